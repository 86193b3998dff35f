import type { Server } from "bun";
import type { GatewayError } from "../domain/gateway-error.ts";
import { UnknownKeys } from "../gateway/access/unknown-keys.ts";
import type { Core } from "../gateway/core.ts";
import type { ImageCore } from "../gateway/images.ts";
import type { JobCore } from "../jobs/submit.ts";
import type { BlobStore, Links, OutcomeStore, RequestListener } from "../gateway/ports.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";
import { FilePool } from "../lib/spool.ts";
import { sleep } from "../lib/waiting.ts";
import { BodyLimits } from "./body-limits.ts";
import type { ConnectionLimit } from "./connection-limit.ts";
import { callerBase } from "./credentials.ts";
import { createHandler, stopping, type EndpointSettings, type Handler } from "./endpoint.ts";
import { Lifecycle } from "./lifecycle.ts";
import { stopListening } from "./listening-socket.ts";
import { consoleRoutes } from "./endpoints/console.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { imageRoutes } from "./endpoints/images.ts";
import { modelRoutes } from "./endpoints/models.ts";
import { jobRoutes } from "./endpoints/jobs.ts";
import { nativeRoutes } from "./endpoints/native.ts";
import { priceRoutes } from "./endpoints/prices.ts";
import { textRoutes } from "./endpoints/text.ts";
import type { Overload } from "./overload.ts";
import { SpoolQuota, type SpoolQuotaOptions } from "./spool-quota.ts";
import { RouteTable, type Route } from "./routes.ts";

export interface ServerOptions {
  core: Core;
  blobs: { store: BlobStore; links: Links };
  outcomes: OutcomeStore;
  jobs: Omit<JobCore, keyof ImageCore>;
  safeFetch: SafeFetch;
  /** Folder for temporary files of requests, on a local disk. */
  spoolDirectory: string;
  /** Bounds the pictures that are decoded or encoded at once. */
  codecSlots: FairSemaphore;
  server: {
    host: string;
    port: number;
    metricsPort: number | null;
    metricsToken: string | null;
    publicUrl: string | null;
    trustedProxies: AddressList;
    idleSeconds: number;
    bodyGraceSeconds: number;
    spool: Pick<SpoolQuotaOptions, "maxBytes" | "reserveBytes">;
    unknownKeysPerMinute: number | null;
  };
  /** Whether a text has the form of a key. */
  isWellFormed(secret: string): boolean;
  hash(secret: string): string;
  listeners: readonly RequestListener[];
  overload: Overload;
  connections: ConnectionLimit;
  /** Told of failures in the background. */
  onProblem(message: string, cause: unknown): void;
  metrics(): Promise<string>;
  /** Whether several processes listen on the port. */
  isShared: boolean;
}

export { ConnectionLimit } from "./connection-limit.ts";
export { Overload } from "./overload.ts";

export interface RunningServer {
  /** Without a trailing slash. */
  url: string;
  /**
   * Leaves: `/readyz` answers 503 while everything else goes on for `leaveMs`. Then drains: new connections are
   * refused, requests on open ones are served and close them. Ends all connections once no request has run for
   * half a second. Requests that still run after `drainMs` get the error that `onCut` is called with; it is called
   * with null when none does.
   */
  stop(leaveMs: number, drainMs: number, onCut: (error: GatewayError | null) => void): Promise<void>;
  abandon(): void;
}

/** A connection that carries no request for so long while the server drains is closed. */
const QUIET_MS = 500;
const DRAIN_POLL_MS = 20;
/** Longest wait until cut requests have been responded to. */
const CUT_MS = 1_000;

/** Larger than any body a route takes; the routes have limits of their own. */
const MAX_BYTES = 1024 ** 3;

/** Every route of the gateway. */
export function allRoutes(
  options: ServerOptions,
  filePool = new FilePool(),
  lifecycle = new Lifecycle(),
): Route[] {
  const { core, blobs, server: address } = options;
  const { clock, snapshot } = core;
  const directory = options.spoolDirectory;
  const bodyLimits = new BodyLimits(address.bodyGraceSeconds * 1000);
  const files = { blobs: blobs.store, links: blobs.links, codecSlots: options.codecSlots };
  const baseOf = ({ request, server }: { request: Request; server: Server<undefined> }): string =>
    address.publicUrl ?? callerBase(request, server, address.trustedProxies);
  const images = {
    ...core,
    ...files,
    safeFetch: options.safeFetch,
    bodyLimits,
    spools: { directory, filePool, quota: new SpoolQuota({ ...address.spool, directory }) },
    baseOf,
  };
  return [
    ...textRoutes(core, bodyLimits),
    ...imageRoutes(images),
    ...nativeRoutes(images),
    ...jobRoutes({ ...images, ...options.jobs }),
    ...modelRoutes(snapshot, clock),
    ...priceRoutes(snapshot, clock),
    ...fileRoutes(files),
    ...operatorRoutes(options, lifecycle).filter(({ name }) => name !== "metrics" || !address.metricsPort),
    ...consoleRoutes(),
  ];
}

function operatorRoutes({ metrics, server: { metricsToken } }: ServerOptions, lifecycle: Lifecycle): Route[] {
  return healthRoutes({ lifecycle, metrics, metricsToken });
}

/** Listens on the configured address. Throws when the address is taken. */
export function startServer(options: ServerOptions): RunningServer {
  const { core, server: address } = options;
  const { clock } = core;
  const filePool = new FilePool();
  const lifecycle = new Lifecycle();
  const settings = settingsOf(options, lifecycle);
  const server = listen(options, address.port, settings, allRoutes(options, filePool, lifecycle));
  const metricsServer =
    address.metricsPort === null
      ? null
      : listen(options, address.metricsPort, settings, operatorRoutes(options, lifecycle));
  const limiting = options.connections.start(metricsServer ? [server, metricsServer] : [server], (error) =>
    options.onProblem("connections were not counted", error),
  );
  return {
    url: `http://${address.host.includes(":") ? `[${address.host}]` : address.host}:${server.port}`,
    async stop(leaveMs, drainMs, onCut) {
      lifecycle.phase = "leaving";
      await sleep(leaveMs);
      lifecycle.phase = "draining";
      const endsAt = clock.monotonic() + drainMs;
      const isListening = drainMs === 0 || !(await stopListening(server.port ?? 0));
      // Elsewhere the runtime's own graceful stop refuses new connections; it closes idle ones at once.
      if (isListening) void server.stop();
      const isQuiet = () =>
        server.pendingRequests === 0 && lifecycle.quietMs() >= (isListening ? 0 : QUIET_MS);
      while (!isQuiet() && clock.monotonic() < endsAt) await sleep(DRAIN_POLL_MS);
      lifecycle.phase = "stopping";
      onCut(server.pendingRequests > 0 ? stopping() : null);
      const cutBy = clock.monotonic() + CUT_MS;
      while (server.pendingRequests > 0 && clock.monotonic() < cutBy) await sleep(DRAIN_POLL_MS);
      await limiting.stop();
      await server.stop(true);
      await metricsServer?.stop(true);
      await filePool.clear();
    },
    abandon() {
      void limiting.stop();
      void server.stop(true);
      void metricsServer?.stop(true);
    },
  };
}

/** Serves probes and metrics on their own port, if there is one, and nothing else. */
export function startOperatorServer(options: ServerOptions): RunningServer {
  const { metricsPort } = options.server;
  const lifecycle = new Lifecycle();
  const server =
    metricsPort === null
      ? null
      : listen(options, metricsPort, settingsOf(options, lifecycle), operatorRoutes(options, lifecycle));
  return {
    url: "",
    async stop(_leaveMs, _drainMs, onCut) {
      lifecycle.phase = "draining";
      onCut(null);
      await server?.stop(true);
    },
    abandon: () => void server?.stop(true),
  };
}

function settingsOf(options: ServerOptions, lifecycle: Lifecycle): Omit<EndpointSettings, "table"> {
  const { core, server: address } = options;
  const { clock, snapshot } = core;
  return {
    authenticator: {
      snapshot,
      isWellFormed: options.isWellFormed,
      hash: options.hash,
      now: () => clock.now(),
      unknownKeys: new UnknownKeys(clock, address.unknownKeysPerMinute),
    },
    core,
    clock,
    trustedProxies: address.trustedProxies,
    listeners: options.listeners,
    lifecycle,
    overload: options.overload,
    connections: options.connections,
    idempotency: { outcomes: options.outcomes, blobs: options.blobs.store },
    idleSeconds: address.idleSeconds,
  };
}

function listen(
  { server: { host, idleSeconds }, isShared }: ServerOptions,
  port: number,
  settings: Omit<EndpointSettings, "table">,
  routes: readonly Route[],
): Server<undefined> {
  const table = new RouteTable(routes);
  return Bun.serve({
    hostname: host,
    port,
    reusePort: isShared,
    maxRequestBodySize: MAX_BYTES,
    idleTimeout: idleSeconds,
    development: false,
    ...dispatch(table, createHandler({ ...settings, table })),
  });
}

/** Handlers for the runtime's router, which alone sees targets as they were sent: `Request.url` is normalized. */
function dispatch(table: RouteTable, handle: Handler) {
  const bound = (routes: ReadonlySet<Route>) => (request: Request, server: Server<undefined>) =>
    handle(request, server, routes);
  const targets = [...table.byTarget()].map(([target, routes]) => [target, bound(routes)] as const);
  return { routes: Object.fromEntries(targets), fetch: bound(new Set()) };
}
