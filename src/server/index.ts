import type { Server } from "bun";
import type { GatewayError } from "../domain/gateway-error.ts";
import { UnknownKeys } from "../gateway/access/authenticate.ts";
import { FilePool } from "../lib/spool.ts";
import { sleep, nextTurn } from "../lib/waiting.ts";
import { allRoutes, operatorRoutes } from "./all-routes.ts";
import {
  createHandler,
  type EndpointSettings,
  type FoundTarget,
  type Handler,
  Lifecycle,
  stopping,
} from "./endpoint.ts";
import { stopListening } from "./entrance/listening-socket.ts";
import type { ServerOptions } from "./options.ts";
import { playgroundKeys } from "./playground-keys.ts";
import { type HttpRoute, RouteTable } from "./routes.ts";

export { allRoutes } from "./all-routes.ts";
export type { ServerOptions } from "./options.ts";
export { ConnectionLimit } from "./entrance/connection-limit.ts";
export { Overload } from "./entrance/overload.ts";
export { UndeclaredProxy } from "./undeclared-proxy.ts";

export interface RunningServer {
  /** Address without a slash at the end. */
  url: string;
  /**
   * Stops in three phases. Leaving: for `leaveMs`, `/readyz` returns 503 and everything else continues. Draining: new
   * connections are refused; a request on an open connection is served, and then its connection closes. Stopping: all
   * connections end once no request has run for half a second, or after `drainMs`. `onCut` is called with the error for
   * requests that still run; with null when no request runs.
   */
  stop(leaveMs: number, drainMs: number, onCut: (error: GatewayError | null) => void): Promise<void>;
  /** Ends all connections at once. The server for callers first calls `onCut` with the error for running requests. */
  abandon(onCut: (error: GatewayError) => void): Promise<void>;
}

/** Time without requests after which a draining server closes its connections. */
const QUIET_MS = 500;
const DRAIN_POLL_MS = 20;
/** Maximum wait for the responses of cut requests. Their delivered tokens are still counted. */
const CUT_MS = 2_000;

/** Maximum bytes of any body. Each route has its own limit, which is lower. */
const MAX_BYTES = 1024 ** 3;

/** Starts a server on the configured address. Throws when the address is in use. */
export function startServer(options: ServerOptions): RunningServer {
  const { clock } = options.core;
  const { host, port, metricsPort } = options.server;
  const filePool = new FilePool();
  const lifecycle = new Lifecycle();
  const settings = settingsOf(options, lifecycle);
  const server = listen(options, port, settings, allRoutes(options, filePool, lifecycle));
  const metricsServer =
    metricsPort === null ? null : listen(options, metricsPort, settings, operatorRoutes(options, lifecycle));
  const limiting = options.connections.start(metricsServer ? [server, metricsServer] : [server], (error) =>
    options.onProblem("connections were not counted", error),
  );
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    async stop(leaveMs, drainMs, onCut) {
      lifecycle.phase = "leaving";
      await sleep(leaveMs);
      lifecycle.phase = "draining";
      const endsAt = clock.monotonic() + drainMs;
      const isListening = drainMs === 0 || !(await stopListening(server.port ?? 0));
      // If the listening socket cannot be closed alone, the runtime's own stop is used, although it also closes idle
      // connections.
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
    async abandon(onCut) {
      lifecycle.phase = "stopping";
      onCut(stopping());
      // The running requests need one turn to end with the error of `onCut`. Closing would disconnect them.
      await nextTurn();
      void limiting.stop();
      void server.stop(true);
      void metricsServer?.stop(true);
    },
  };
}

/** Starts a server on the operators' port for probes and metrics only, if this port is configured. */
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
    abandon: async () => void server?.stop(true),
  };
}

function settingsOf(options: ServerOptions, lifecycle: Lifecycle): Omit<EndpointSettings, "table"> {
  const { core } = options;
  const { clock, snapshot } = core;
  const { unknownKeysPerMinute, trustedProxies, idleSeconds } = options.server;
  return {
    authenticator: {
      snapshot,
      isWellFormed: options.isWellFormed,
      hash: options.hash,
      now: () => clock.now(),
      unknownKeys: new UnknownKeys(clock, unknownKeysPerMinute),
    },
    playgroundKeys: playgroundKeys({
      ...options.server,
      context: options.admin,
      identity: options.identity,
      outcomes: options.outcomes,
      undeclaredProxy: options.undeclaredProxy,
    }),
    core,
    clock,
    trustedProxies,
    onEnd: options.onEnd,
    lifecycle,
    overload: options.overload,
    beginTrace: options.beginTrace,
    connections: options.connections,
    idempotency: {
      outcomes: options.outcomes,
      blobs: options.blobs.store,
      hasSpaceToKeep: (bytes) => options.overload.hasSpaceToKeep(bytes),
    },
    idleSeconds,
  };
}

function listen(
  { server: { host, idleSeconds }, isShared }: ServerOptions,
  port: number,
  settings: Omit<EndpointSettings, "table">,
  routes: readonly HttpRoute[],
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

/** Returns handlers for the runtime's router, which matches request targets as sent; `Request.url` is normalized. */
function dispatch(table: RouteTable, handle: Handler) {
  const turns = new RequestTurns();
  const bound = (found: FoundTarget) => (request: Request, server: Server<undefined>) => {
    const turn = turns.next();
    return turn ? turn.then(() => handle(request, server, found)) : handle(request, server, found);
  };
  const targets = [...table.byTarget()].map(([target, routes]) => {
    const found = { routes, path: target.includes("*") ? null : target };
    return [target, bound(found)] as const;
  });
  return { routes: Object.fromEntries(targets), fetch: bound({ routes: new Set(), path: null }) };
}

/** Maximum number of requests that begin in one turn of the event loop. A turn takes 3 to 30 ms. */
const MAX_REQUESTS = 256;

/**
 * Limits the number of requests that begin in one turn of the event loop. A client may send thousands of requests at
 * once on one connection. Without the limit, the runtime would begin all of them before it serves another connection.
 */
class RequestTurns {
  #begun = 0;

  /**
   * Call it before each request. Returns a promise that an excess request must await. Meanwhile the runtime begins no
   * other request of the same connection, and closes the connection if another request arrives.
   */
  next(): Promise<void> | undefined {
    this.#begun += 1;
    // The reset is scheduled at half of the maximum, which few turns reach: scheduling costs more than comparing.
    if (this.#begun === MAX_REQUESTS / 2) setImmediate(() => (this.#begun = 0));
    return this.#begun > MAX_REQUESTS ? nextTurn() : undefined;
  }
}
