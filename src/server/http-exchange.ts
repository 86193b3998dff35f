import type { Server } from "bun";
import type { Principal } from "../domain/api-key.ts";
import type { Attempt } from "../domain/ledger.ts";
import type { LimitGrant } from "../gateway/admission/limit-grant.ts";
import type { RequestContext, RequestFacts } from "../gateway/request-context.ts";
import type { AddressList } from "../lib/cidr.ts";
import { callerAddress } from "./credentials.ts";

/** One HTTP request and what is known about it so far. */
export interface HttpExchange {
  request: Request;
  server: Server<undefined>;
  /** The `{…}` part of the route's path, decoded; empty where the path has none. */
  parameter: string;
  /** The model that the path names; it takes the place of the body's. */
  model?: string;
  /** The path of the request's URL. */
  path: string;
  /** The caller's address once something needed it. */
  address: string | null;
  /** Who sent it, for the ledger; null is the holder of the key. */
  source: string | null;
  /** The gateway's own id, which keys the ledger. */
  id: string;
  /** The caller's `X-Request-Id` where it sent a usable one, else `id`. */
  requestId: string;
  /** When it arrived, Unix milliseconds. */
  at: number;
  /** When it arrived, monotonic milliseconds. */
  startedAt: number;
  attempts: Attempt[];
  facts: RequestFacts;
  /** The owner of the key, once it has been accepted. */
  principal?: Principal;
}

/** An exchange whose key has been accepted. */
export interface AuthenticatedExchange extends HttpExchange {
  principal: Principal;
  /** The client's network by its address: what one client controls. */
  network(): string;
  /** What the request counts in the limits. */
  grant: LimitGrant;
  /**
   * Only with an idempotency key: to be called with the request's content before anything is called or billed. Throws
   * where the request must not run.
   */
  claimOutcome?(content: unknown): Promise<void>;
}

/** An exchange as the core sees it: without HTTP. */
export function contextOf(exchange: AuthenticatedExchange): RequestContext {
  const { id, requestId, principal, source, grant, request, claimOutcome, attempts, facts } = exchange;
  const isOutcomeKept = claimOutcome !== undefined;
  return { id, requestId, principal, source, grant, signal: request.signal, isOutcomeKept, attempts, facts };
}

/** The caller's address, found out once: asking the runtime for the peer costs microseconds. */
export function addressOf(exchange: HttpExchange, trusted: AddressList): string {
  return (exchange.address ??= callerAddress(exchange.request, exchange.server, trusted));
}

/** Lets the client wait for a vendor as long as that takes; the vendor's timeouts bound it. */
export function suspendIdleTimeout({ server, request }: HttpExchange): void {
  server.timeout(request, 0);
}

export function restoreIdleTimeout({ server, request }: HttpExchange, idleSeconds: number): void {
  server.timeout(request, idleSeconds);
}

/** The path of a request's URL, which has no origin when the request had no Host (HTTP/1.0). */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", 8);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}

/** The trace id of a `traceparent` header: `00-{trace id}-{parent id}-{flags}` (W3C Trace Context). */
export function traceIdOf(traceparent: string | null): string | null {
  return traceparent === null
    ? null
    : (/^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-/.exec(traceparent)?.[1] ?? null);
}
