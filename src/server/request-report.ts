import type { GatewayError } from "../domain/gateway-error.ts";
import type { RequestEvent, RequestListener } from "../domain/request-event.ts";
import { visibleTraceId } from "../domain/trace.ts";
import { ClientDisconnected } from "../gateway/routing/call.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { Clock } from "../lib/clock.ts";
import type { ConnectionLimit } from "./entrance/connection-limit.ts";
import { addressOf, restoreIdleTimeout, traceIdOf, type HttpExchange } from "./http-exchange.ts";
import type { HttpRoute } from "./routes.ts";

export interface ReportSettings {
  clock: Clock;
  trustedProxies: AddressList;
  onEnd: RequestListener;
  connections: Pick<ConnectionLimit, "began" | "ended">;
  /** Maximum seconds for which a connection may be silent while the client has to send or to receive. */
  idleSeconds: number;
}

/** Statuses of refusals because of key, address, path or method. Their log lines contain the caller's address. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 405]);

interface Ending {
  /** Absent for a request that matches no route. */
  route?: HttpRoute;
  response: Response;
  failure?: GatewayError | ClientDisconnected | null;
  /** Milliseconds to the first byte; set only for streams. */
  firstByteMs?: number;
}

/** Reports the end of a request and returns the request's response. */
type Report = (exchange: HttpExchange, ending: Ending) => Response;

/** Returns a function that passes one record of each request to `onEnd` when the request ends. */
export function createReport(settings: ReportSettings): Report {
  const { connections, onEnd, idleSeconds } = settings;
  return (exchange, ending) => {
    const event = eventOf(settings, exchange, ending);
    connections.ended(exchange.request);
    onEnd(event);
    restoreIdleTimeout(exchange, idleSeconds);
    return ending.response;
  };
}

function eventOf(
  { clock, trustedProxies }: ReportSettings,
  exchange: HttpExchange,
  { route, response, failure, firstByteMs }: Ending,
): RequestEvent {
  const { request, id, requestId, at, startedAt, attempts, facts, principal, trace } = exchange;
  const { charge } = facts;
  return {
    id,
    requestId,
    ledgerId: charge?.id ?? null,
    traceId: trace ? visibleTraceId(trace) : traceIdOf(request.headers.get("traceparent")),
    trace,
    route: route?.name ?? "none",
    method: request.method,
    path: exchange.path,
    address: REFUSALS.has(response.status) ? addressOf(exchange, trustedProxies) : null,
    status: response.status,
    code: failure instanceof ClientDisconnected ? "caller_gone" : (failure?.code ?? null),
    message: failure instanceof ClientDisconnected ? null : (failure?.message ?? null),
    at,
    startedAt,
    durationMs: clock.monotonic() - startedAt,
    firstByteMs: firstByteMs ?? null,
    organizationId: principal?.organization.id ?? null,
    keyId: principal?.key.id ?? null,
    source: exchange.source,
    model: facts.model?.id ?? null,
    askedModel: facts.model === null ? facts.askedModel : null,
    client: request.headers.get("user-agent"),
    modelPattern: facts.model?.pattern ?? null,
    channel: charge?.channel ?? null,
    isStream: firstByteMs !== undefined,
    usage: charge?.usage ?? null,
    surplus: facts.surplus,
    amount: charge?.amount ?? 0n,
    currency: charge?.currency ?? null,
    attempts,
    pictures: facts.pictures,
    content: facts.content,
    cause: failure?.cause,
  };
}
