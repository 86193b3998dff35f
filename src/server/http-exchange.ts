import type { Server } from "bun";
import type { Principal } from "../domain/api-key.ts";
import type { Attempt } from "../domain/ledger.ts";
import type { RequestTrace } from "../domain/trace.ts";
import type { LimitGrant } from "../gateway/admission/limit-grant.ts";
import type { RequestContext, RequestFacts } from "../gateway/request-context.ts";
import { type AddressList, plainAddress } from "../lib/cidr.ts";

/** One HTTP request and the facts known about it so far. */
export interface HttpExchange {
  request: Request;
  server: Server<undefined>;
  /** The decoded value of the `{…}` part of the route's path; empty when the path has no such part. */
  parameter: string;
  /** The model in the path, which replaces the model in the body. */
  model?: string;
  /** The path of the request's URL. */
  path: string;
  /** The caller's address; null until the address is needed. */
  address: string | null;
  /** `playground/` and the name of the member who sent the request in the console, for the ledger; otherwise null. */
  source: string | null;
  /** The gateway's own id of the request, which is also the id of the ledger entry. */
  id: string;
  /** The caller's `X-Request-Id` if it is usable, else `id`. */
  requestId: string;
  /** Time of arrival, Unix milliseconds. */
  at: number;
  /** Time of arrival, monotonic milliseconds. */
  startedAt: number;
  attempts: Attempt[];
  /** Null while no traces are exported. */
  trace: RequestTrace | null;
  facts: RequestFacts;
  /** The key and its organization, once the key has been accepted. */
  principal?: Principal;
}

/** An exchange whose key has been accepted. */
export interface AuthenticatedExchange extends HttpExchange {
  principal: Principal;
  /** Returns the client's network: the range of addresses that one client controls. */
  network(): string;
  /** The amounts that the limits have counted for this request. */
  grant: LimitGrant;
  /**
   * Claims the idempotency key of the request; absent when the request has no key. Call it with the request's content
   * before a vendor is called or anything is billed. Throws when the request must not run.
   */
  claimOutcome?(content: unknown): Promise<void>;
}

/** Returns the exchange as the core uses it, without HTTP. */
export function contextOf(exchange: AuthenticatedExchange): RequestContext {
  const { id, requestId, principal, source, grant, request, claimOutcome, attempts, facts, trace } = exchange;
  const isOutcomeKept = claimOutcome !== undefined;
  const isStrict =
    principal.key.refuseIgnored ||
    principal.organization.settings.refuseIgnored ||
    request.headers.get("x-gateway-strict") === "true";
  const { signal } = request;
  const client = clientProgram(request.headers.get("user-agent"));
  return {
    id,
    requestId,
    principal,
    source,
    client,
    grant,
    signal,
    isOutcomeKept,
    isStrict,
    attempts,
    facts,
    trace,
  };
}

/** Returns the caller's address, which is determined once: reading it from the runtime costs microseconds. */
export function addressOf(exchange: HttpExchange, trusted: AddressList): string {
  return (exchange.address ??= callerAddress(exchange.request, exchange.server, trusted));
}

/** Turns off the connection's idle timeout for a request that may take long, such as one that waits for a vendor. */
export function suspendIdleTimeout({ server, request }: HttpExchange): void {
  server.timeout(request, 0);
}

export function restoreIdleTimeout({ server, request }: HttpExchange, idleSeconds: number): void {
  server.timeout(request, idleSeconds);
}

/** Returns the path of a request's URL. The URL of a request without a Host header (HTTP/1.0) has no origin. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", 8);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}

/** Returns the trace id of a `traceparent` header: `00-{trace id}-{parent id}-{flags}` (W3C Trace Context). */
export function traceIdOf(traceparent: string | null): string | null {
  return traceparent === null
    ? null
    : (/^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-/.exec(traceparent)?.[1] ?? null);
}

/**
 * Returns the key in a request's headers; null when there is no key. `Authorization` takes precedence over the other
 * headers, even if its value is invalid. An empty token counts as no key. A value with a scheme other than Bearer is
 * returned unchanged, and is later refused as an unusable key.
 */
export function readSecret(headers: Headers, otherHeaders: readonly string[]): string | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    const token = /^bearer(?:\s+(.*))?$/i.exec(authorization.trim());
    return (token ? token[1]?.trim() : authorization.trim()) || null;
  }
  for (const name of otherHeaders) {
    const value = headers.get(name)?.trim();
    if (value) return value;
  }
  return null;
}

/**
 * Returns the caller's address. This is the peer's address if the peer is not a trusted proxy. Otherwise it is the last
 * address in `X-Forwarded-For` that is not a trusted proxy's, or else the peer's. Removes a port that a load balancer
 * has added.
 */
export function callerAddress(request: Request, server: Server<undefined>, trusted: AddressList): string {
  const peer = plainAddress(server.requestIP(request)?.address ?? "");
  if (!trusted.has(peer)) return peer;
  const forwarded = request.headers.get("x-forwarded-for")?.split(",") ?? [];
  for (const entry of forwarded.reverse()) {
    const address = plainAddress(withoutPort(entry.trim()));
    if (!trusted.has(address)) return address;
  }
  return peer;
}

/** Removes the port: `10.0.0.1:5555` becomes `10.0.0.1`, and `[2001:db8::1]:5555` becomes `2001:db8::1`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(entry) ?? [];
  return v6 ?? v4 ?? entry;
}

/** The settings that decide how browsers reach the gateway. */
export interface Reachability {
  trustedProxies: AddressList;
  /** The configured base address; null for none. */
  publicUrl: string | null;
}

/** Returns the configured base address, or the base address that the browser used. */
export function baseOf(
  { publicUrl, trustedProxies }: Reachability,
  { request, server }: Pick<HttpExchange, "request" | "server">,
): string {
  return publicUrl ?? callerBase(request, server, trustedProxies);
}

/** Returns the base address that the caller used, or that a trusted proxy's headers declare, without an end slash. */
export function callerBase(request: Request, server: Server<undefined>, trusted: AddressList): string {
  // The URL of a request without a Host header (HTTP/1.0) is only a path.
  const origin = request.url.startsWith("/")
    ? `http://${server.hostname}:${server.port}`
    : request.url.slice(0, request.url.indexOf("/", 8));
  const forwarded = {
    scheme: request.headers.get("x-forwarded-proto"),
    host: request.headers.get("x-forwarded-host"),
  };
  if (forwarded.scheme === null && forwarded.host === null) return origin;
  if (!trusted.has(plainAddress(server.requestIP(request)?.address ?? ""))) return origin;
  const host = request.headers.get("host") ?? "";
  const base = { scheme: forwarded.scheme ?? "http", host: forwarded.host ?? host };
  return /^https?$/.test(base.scheme) && /^[\w.:[\]-]+$/.test(base.host)
    ? `${base.scheme}://${base.host}`
    : origin;
}

/**
 * Returns the program that sent a request, by its `user-agent`. Null when there is no `user-agent`. The programs are a
 * fixed list, so that callers cannot fill the sums of usage with names of their own.
 */
export function clientProgram(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === "") return null;
  const named = userAgent.slice(0, MAX_LENGTH);
  return PROGRAMS.find(([pattern]) => pattern.test(named))?.[1] ?? "other";
}

/** Number of characters of a `user-agent` that are searched. A `user-agent` names its program at the beginning. */
const MAX_LENGTH = 200;

/** Patterns in order of precedence: a program before its library, a library before the runtime that sends requests. */
const PROGRAMS: readonly (readonly [pattern: RegExp, program: string])[] = [
  [/^claude-cli\//, "Claude Code"],
  [/^codex[_-]/, "Codex"],
  [/^GeminiCLI/, "Gemini CLI"],
  [/^QwenCode/, "Qwen Code"],
  [/^opencode\//, "opencode"],
  [/langchain/i, "LangChain"],
  [/llama-?index/i, "LlamaIndex"],
  [/\bai-sdk\//, "AI SDK"],
  [/^(?:Async)?(?:Azure)?OpenAI\/Python/, "OpenAI Python"],
  [/^(?:Async)?(?:Azure)?OpenAI\/JS/, "OpenAI JavaScript"],
  [/^(?:Async)?OpenAI\/(?:Go|Java|Ruby)/, "OpenAI, other languages"],
  [/^(?:Async)?Anthropic\w*\/Python/, "Anthropic Python"],
  [/^(?:Async)?Anthropic\w*\/JS/, "Anthropic JavaScript"],
  [/^(?:Async)?Anthropic\w*\/(?:Go|Java|Ruby)/, "Anthropic, other languages"],
  [/^google-genai-sdk\/\S* gl-python/, "Google Gen AI Python"],
  [/google-genai-sdk\//, "Google Gen AI JavaScript"],
  [/mistralai|mistral-client/, "Mistral"],
  [/^curl\//, "curl"],
  [/^Mozilla\//, "Browser"],
  [/^PostmanRuntime\//, "Postman"],
  [/^(?:python|Python)|aiohttp/, "Python"],
  [/^(?:node|undici|axios|Deno|Bun)\b/, "JavaScript"],
  [/^Go-http-client/, "Go"],
  [/^(?:Java|okhttp|Apache-HttpClient)/, "Java"],
];
