import type { Server } from "bun";
import { GatewayError } from "../domain/gateway-error.ts";
import { newRequestEvent, type RequestEvent } from "../domain/request-event.ts";
import { authenticate, type Authenticator } from "../gateway/access/authenticate.ts";
import type { RequestListener } from "../gateway/ports.ts";
import { ClientDisconnected } from "../gateway/routing/call.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { callerAddress, readSecret } from "./credentials.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { asGatewayError, errorResponse } from "./respond.ts";
import type { OtherMethods, Route, RouteMatch, RouteTable } from "./routes.ts";

export interface EndpointSettings {
  table: RouteTable;
  authenticator: Authenticator;
  clock: Clock;
  trustedProxies: AddressList;
  listeners: readonly RequestListener[];
  /** True once the process is stopping: new work is refused. */
  isDraining(): boolean;
}

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const DRAINING_RETRY_SECONDS = 1;
/** Longest silence of a connection while its caller is to send or to read; so it stands again after every answer. */
export const CALLER_IDLE_SECONDS = 60;

/**
 * The one way from HTTP into the gateway: every request gets an id, passes the door its route asks for, has its
 * errors rendered in its route's shape, and is told to the listeners once, after its end.
 */
export function createHandler(
  settings: EndpointSettings,
): (request: Request, server: Server<undefined>) => Response | Promise<Response> {
  return async (request, server) => {
    const id = newId("req");
    const asked = request.headers.get("x-request-id");
    const requestId = asked !== null && REQUEST_ID.test(asked) ? asked : id;
    const event = newRequestEvent(requestId, settings.clock.now(), settings.clock.monotonic());
    const found = settings.table.find(request.method, pathOf(request.url));
    // Two of them arrive joined; whoever stands between may have believed the other one (RFC 9112, 3.2).
    if (request.headers.get("host")?.includes(","))
      return finish(settings, event, twoHosts(found, requestId));
    if (!found || "allow" in found) return finish(settings, event, notRouted(found, requestId));
    const { route, parameter } = found;
    event.route = route.name;
    const exchange: HttpExchange = {
      request,
      server,
      parameter,
      id,
      event,
      ended: () => {
        notify(settings, event);
        server.timeout(request, CALLER_IDLE_SECONDS);
      },
    };
    try {
      const response = await handle(settings, route, exchange);
      event.status = response.status;
      return event.isStream ? response : finish(settings, event, response);
    } catch (thrown) {
      return finish(settings, event, failed(thrown, route, exchange));
    } finally {
      if (!event.isStream) server.timeout(request, CALLER_IDLE_SECONDS);
    }
  };
}

async function handle(settings: EndpointSettings, route: Route, exchange: HttpExchange): Promise<Response> {
  if (route.auth === "public") return route.handle(exchange);
  if (settings.isDraining()) {
    const message = "This server is stopping. Retry; another will answer.";
    throw new GatewayError("overloaded", message, { retryAfterSeconds: DRAINING_RETRY_SECONDS });
  }
  const { request, server, event } = exchange;
  const credentials = {
    secret: readSecret(request.headers, route.keyHeaders?.(request.headers) ?? []),
    address: () => callerAddress(request, server, settings.trustedProxies),
  };
  const found = authenticate(settings.authenticator, credentials, route.scope);
  const principal = found instanceof Promise ? await found : found;
  event.organizationId = principal.organization.id;
  event.keyId = principal.key.id;
  return route.handle(Object.assign(exchange, { principal }));
}

function failed(thrown: unknown, route: Route, { request, event }: HttpExchange): Response {
  event.isStream = false;
  // Whoever hangs up while sending breaks the reading of the body.
  const isGone = request.signal.aborted && !(thrown instanceof GatewayError);
  if (isGone || thrown instanceof ClientDisconnected) {
    event.code = "caller_gone";
    return new Response(null, { status: 499 });
  }
  const error = asGatewayError(thrown);
  event.code = error.code;
  event.cause = error.cause;
  const extra: Record<string, string> = error.code === "overloaded" ? { connection: "close" } : {};
  return errorResponse(error, route.family, event.requestId, extra);
}

function notRouted(found: OtherMethods | null, requestId: string): Response {
  if (!found)
    return errorResponse(
      new GatewayError("not_found", "There is nothing at this path."),
      "images",
      requestId,
    );
  const allow = found.allow.join(", ");
  const error = new GatewayError("method_not_allowed", `This path answers ${allow}.`);
  return errorResponse(error, found.family, requestId, { allow });
}

function twoHosts(found: RouteMatch | OtherMethods | null, requestId: string): Response {
  const { family = "images" } = found && "route" in found ? found.route : (found ?? {});
  return errorResponse(
    new GatewayError("invalid_parameter", "Send a single Host header."),
    family,
    requestId,
  );
}

function finish(settings: EndpointSettings, event: RequestEvent, response: Response): Response {
  event.status = response.status;
  notify(settings, event);
  return response;
}

function notify({ listeners, clock }: EndpointSettings, event: RequestEvent): void {
  event.durationMs = clock.monotonic() - event.startedAt;
  for (const listener of listeners) listener(event);
}

function pathOf(url: string): string {
  const start = url.indexOf("/", 8);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
