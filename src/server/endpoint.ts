import { rateHeaders } from "../dialects/rate-headers.ts";
import type { Server } from "bun";
import type { Principal } from "../domain/api-key.ts";
import type { BeginTrace } from "../domain/trace.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { authenticate, authenticateHash, type Authenticator } from "../gateway/access/authenticate.ts";
import { LimitGrant } from "../gateway/admission/limit-grant.ts";
import type { Core } from "../gateway/core.ts";
import { asGatewayError } from "../gateway/failure.ts";
import { newRequestFacts } from "../gateway/request-context.ts";
import { ClientDisconnected } from "../gateway/routing/call.ts";
import { networkOf } from "../lib/cidr.ts";
import { newId } from "../lib/ids.ts";
import { type Idempotency, runIdempotently } from "./entrance/idempotency.ts";
import type { Overload } from "./entrance/overload.ts";
import {
  addressOf,
  type AuthenticatedExchange,
  type HttpExchange,
  pathOf,
  readSecret,
} from "./http-exchange.ts";
import { PLAYGROUND_KEY, type PlaygroundKeys } from "./playground-keys.ts";
import { createReport, type ReportSettings } from "./request-report.ts";
import {
  badHead,
  badTarget,
  errorResponse,
  type HttpRefusal,
  notRouted,
  webSocketRefusal,
} from "./respond.ts";
import type { ErrorFamily, HttpRoute, RouteResult, RouteTable } from "./routes.ts";

export interface EndpointSettings extends ReportSettings {
  table: RouteTable;
  authenticator: Authenticator;
  playgroundKeys: PlaygroundKeys;
  core: Pick<Core, "limiter" | "limits">;
  lifecycle: Lifecycle;
  idempotency: Idempotency;
  overload: Pick<Overload, "step" | "admit">;
  /** Begins a trace; null while no traces are exported. */
  beginTrace: BeginTrace | null;
}

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const STOPPING_RETRY_SECONDS = 1;

/**
 * The routes that the runtime's router finds for the unchanged request target. If the normalized path matches another
 * route, the request is refused.
 */
export interface FoundTarget {
  routes: ReadonlySet<HttpRoute>;
  /** The path, if the request target is only a path; null when the path must be read from the URL. */
  path: string | null;
}

export type Handler = (request: Request, server: Server<undefined>, target: FoundTarget) => Promise<Response>;

/**
 * Returns the handler of all HTTP requests. It gives each request an id, authenticates the request as its route
 * requires, and renders errors in the route's format. At the end, it reports each request once to `onEnd`.
 */
export function createHandler(settings: EndpointSettings): Handler {
  const report = createReport(settings);
  const refuse = (exchange: HttpExchange, { error, family, headers }: HttpRefusal): Response => {
    const response = errorResponse(error, family, exchange.requestId, headers);
    return report(exchange, { response, failure: error });
  };
  return async (request, server, { routes, path }) => {
    const exchange = openExchange(settings, request, server, path ?? pathOf(request.url));
    settings.connections.began(request);
    const bad = badHead(request, exchange.path);
    if (bad) return refuse(exchange, bad);
    const found = settings.table.find(request.method, exchange.path);
    const upgrade = found && webSocketRefusal(request, "route" in found ? found.route.family : found.family);
    if (upgrade) return refuse(exchange, upgrade);
    if (!found || "allow" in found) {
      return refuse(exchange, notRouted(found, settings.table, request.method, exchange.path));
    }
    if (!routes.has(found.route)) return refuse(exchange, badTarget());
    exchange.parameter = found.parameter;
    const route = found.route.routeFor?.(exchange) ?? found.route;
    try {
      const result = await handle(settings, route, exchange);
      const response = result instanceof Response ? result : result.response;
      if (settings.lifecycle.phase === "draining") closeConnection(settings.lifecycle, response);
      if (result instanceof Response) return report(exchange, { route, response });
      const firstByteMs = settings.clock.monotonic() - exchange.startedAt;
      void result.ended.then((failure) => report(exchange, { route, response, failure, firstByteMs }));
      return response;
    } catch (thrown) {
      const failure = failureOf(settings, thrown, request);
      const response = renderFailure(failure, route.family, exchange);
      return report(exchange, { route, response, failure });
    }
  };
}

function openExchange(
  { clock, beginTrace }: EndpointSettings,
  request: Request,
  server: Server<undefined>,
  path: string,
): HttpExchange {
  const id = newId("req");
  const requested = request.headers.get("x-request-id");
  return {
    request,
    server,
    parameter: "",
    path,
    address: null,
    source: null,
    id,
    requestId: requested !== null && REQUEST_ID.test(requested) ? requested : id,
    at: clock.now(),
    startedAt: clock.monotonic(),
    attempts: [],
    trace: beginTrace && beginTrace(request.headers.get("traceparent"), id),
    facts: newRequestFacts(),
  };
}

/** Calls the handler. For a route with keys, first checks the key and counts the request in the limits, if any. */
async function handle(
  settings: EndpointSettings,
  route: HttpRoute,
  exchange: HttpExchange,
): Promise<RouteResult> {
  if (settings.overload.step > 0 && !route.isProbe) settings.overload.admit(exchange.request);
  if (route.auth !== "key") return route.handle(exchange);
  if (settings.lifecycle.phase === "stopping") throw stopping();
  const found = principalOf(settings, route, exchange);
  const principal = found instanceof Promise ? await found : found;
  const grant = new LimitGrant(settings.core.limiter, settings.core.limits, principal);
  const network = (): string => networkOf(addressOf(exchange, settings.trustedProxies));
  const authenticated: AuthenticatedExchange = Object.assign(exchange, { principal, network, grant });
  const counting = route.pipeline && grant.open(route.pipeline);
  if (counting) await counting;
  try {
    return await runIdempotently(settings.idempotency, route, authenticated);
  } finally {
    await grant.release();
  }
}

function principalOf(
  { authenticator, playgroundKeys, trustedProxies }: EndpointSettings,
  { scope, keyHeaders }: Extract<HttpRoute, { auth: "key" }>,
  exchange: HttpExchange,
): Principal | Promise<Principal> {
  const { headers } = exchange.request;
  const secret = readSecret(headers, keyHeaders?.(headers) ?? []);
  const credentials = { secret, address: () => addressOf(exchange, trustedProxies) };
  const keyId = secret === null ? headers.get(PLAYGROUND_KEY) : null;
  if (keyId === null) return authenticate(authenticator, credentials, scope);
  return playgroundKeys(exchange, keyId).then((hash) =>
    authenticateHash(authenticator, hash, credentials, scope),
  );
}

/**
 * Returns the error of a failed request. After a disconnection, every error but a `GatewayError` counts as its effect.
 */
function failureOf(
  { lifecycle }: EndpointSettings,
  thrown: unknown,
  request: Request,
): GatewayError | ClientDisconnected {
  if (thrown instanceof GatewayError) return thrown;
  const isDisconnected = thrown instanceof ClientDisconnected || request.signal.aborted;
  if (!isDisconnected) return asGatewayError(thrown);
  return lifecycle.phase === "stopping" ? stopping() : new ClientDisconnected();
}

/** Closes the client's connection after this response, because the server drains. */
function closeConnection(lifecycle: Lifecycle, { headers }: Response): void {
  headers.set("connection", "close");
  lifecycle.notice();
}

/** Returns the error for requests of a stopping server. Running handlers are aborted as after a disconnection. */
export function stopping(): GatewayError {
  const message = "This server is stopping. Retry; another one will respond.";
  return new GatewayError("overloaded", message, { retryAfterSeconds: STOPPING_RETRY_SECONDS });
}

function renderFailure(
  failure: GatewayError | ClientDisconnected,
  family: ErrorFamily,
  exchange: HttpExchange | AuthenticatedExchange,
): Response {
  // The client does not receive this response, whose status is only for the log.
  if (failure instanceof ClientDisconnected) return new Response(null, { status: 499 });
  // Responses to refused requests have headers with the state of the limits, because the limits count refused requests.
  const limitState = failure.limitState ?? ("grant" in exchange ? exchange.grant.limitState : null);
  const extra: Record<string, string> = {
    ...rateHeaders(limitState, family === "messages" ? family : "chat"),
    ...(failure.closesConnection && { connection: "close" }),
  };
  return errorResponse(failure, family, exchange.requestId, extra);
}

/**
 * The requests that the server accepts. `serving`: all requests. `leaving`: all requests, but the readiness probe
 * fails. `draining`: only requests on open connections. `stopping`: none that needs a key.
 */
export type Phase = "serving" | "leaving" | "draining" | "stopping";

/** The phase of the server, and the time since its last response or the beginning of the phase, for draining. */
export class Lifecycle {
  #phase: Phase = "serving";
  #quietSince = performance.now();

  get phase(): Phase {
    return this.#phase;
  }

  set phase(phase: Phase) {
    this.#phase = phase;
    this.#quietSince = performance.now();
  }

  notice(): void {
    this.#quietSince = performance.now();
  }

  quietMs(): number {
    return performance.now() - this.#quietSince;
  }
}
