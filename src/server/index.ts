import type { Server } from "bun";
import type { Core } from "../gateway/core.ts";
import type { BlobStore, Links, RequestListener } from "../gateway/ports.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { FilePool } from "../lib/spool.ts";
import { callerBase } from "./credentials.ts";
import { createHandler } from "./endpoint.ts";
import { CLIENT_IDLE_SECONDS } from "./http-exchange.ts";
import { consoleRoutes } from "./endpoints/console.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { imageRoutes } from "./endpoints/images.ts";
import { modelRoutes } from "./endpoints/models.ts";
import { nativeRoutes } from "./endpoints/native.ts";
import { priceRoutes } from "./endpoints/prices.ts";
import { textRoutes } from "./endpoints/text.ts";
import { RouteTable, type Route } from "./routes.ts";

export interface ServerOptions {
  core: Core;
  blobs: { store: BlobStore; links: Links };
  safeFetch: SafeFetch;
  /** Folder for temporary files of requests, on a local disk. */
  spoolDirectory: string;
  /** Bounds the pictures that are decoded or encoded at once. */
  codecSlots: Semaphore;
  server: { host: string; port: number; publicUrl: string | null; trustedProxies: AddressList };
  /** Whether a text has the form of a key. */
  isWellFormed(secret: string): boolean;
  hash(secret: string): string;
  listeners: readonly RequestListener[];
  metrics(): Promise<string>;
  isDraining(): boolean;
  /** Whether several processes listen on the port. */
  isShared: boolean;
}

export interface RunningServer {
  /** Without a trailing slash. */
  url: string;
  /** Waits for running requests, at most so many milliseconds, then calls `onCut` and closes every connection. */
  drain(withinMs: number, onCut: () => void): Promise<void>;
  abandon(): void;
}

/** Larger than any body a route takes; the routes have limits of their own. */
const MAX_BYTES = 1024 ** 3;

/** Every route of the gateway. */
export function allRoutes(options: ServerOptions, filePool = new FilePool()): Route[] {
  const { core, blobs, server: address } = options;
  const { clock, snapshot } = core;
  const files = { blobs: blobs.store, links: blobs.links, codecSlots: options.codecSlots };
  const baseOf = ({ request, server }: { request: Request; server: Server<undefined> }): string =>
    address.publicUrl ?? callerBase(request, server, address.trustedProxies);
  const images = {
    ...core,
    ...files,
    safeFetch: options.safeFetch,
    spools: { directory: options.spoolDirectory, filePool },
    baseOf,
  };
  return [
    ...textRoutes(core),
    ...imageRoutes(images),
    ...nativeRoutes(images),
    ...modelRoutes(snapshot, clock),
    ...priceRoutes(snapshot, clock),
    ...fileRoutes(files),
    ...healthRoutes(options),
    ...consoleRoutes(),
  ];
}

/** Listens on the configured address. Throws when the address is taken. */
export function startServer(options: ServerOptions): RunningServer {
  const { core, server: address } = options;
  const { clock, snapshot } = core;
  const filePool = new FilePool();
  const handle = createHandler({
    table: new RouteTable(allRoutes(options, filePool)),
    authenticator: {
      snapshot,
      isWellFormed: options.isWellFormed,
      hash: options.hash,
      now: () => clock.now(),
    },
    clock,
    trustedProxies: address.trustedProxies,
    listeners: options.listeners,
    isDraining: options.isDraining,
  });
  const server = Bun.serve({
    hostname: address.host,
    port: address.port,
    reusePort: options.isShared,
    maxRequestBodySize: MAX_BYTES,
    idleTimeout: CLIENT_IDLE_SECONDS,
    development: false,
    fetch: handle,
  });
  return {
    url: `http://${address.host.includes(":") ? `[${address.host}]` : address.host}:${server.port}`,
    async drain(withinMs, onCut) {
      const end = clock.monotonic() + withinMs;
      while (server.pendingRequests > 0 && clock.monotonic() < end) await Bun.sleep(20);
      onCut();
      await server.stop(true);
      await filePool.clear();
    },
    abandon: () => void server.stop(true),
  };
}
