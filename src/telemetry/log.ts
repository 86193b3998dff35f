import type { RequestEvent } from "../domain/request-event.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError, type RequestListener } from "../gateway/ports.ts";
import { formatNanos } from "../lib/money.ts";

const FLUSH_MS = 25;
const MAX_CAUSE = 500;

export interface RequestLog {
  listener: RequestListener;
  /** Writes pending lines at the end of the process. */
  flush(): void;
}

/**
 * One JSON line per request, after its end. Lines are formatted after the response was sent and written in batches.
 * Only listed fields are written: no header, body, prompt or key.
 */
export function requestLog(write: (lines: string) => void): RequestLog {
  const pending: RequestEvent[] = [];
  let lines = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Formatted soon: an event kept until the write would survive a minor collection with everything it references.
  const format = (): void => {
    for (const event of pending) lines += line(event);
    pending.length = 0;
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    format();
    if (lines !== "") write(lines);
    lines = "";
  };
  return {
    listener: (event) => {
      if (pending.push(event) === 1) setImmediate(format);
      timer ??= setTimeout(flush, FLUSH_MS);
    },
    flush,
  };
}

/** Logs an event outside of requests as one line; `warn` is the level unless given. */
export type SystemLog = (message: string, cause: unknown, level?: "info" | "warn") => void;

export function systemLog(write: (lines: string) => void): SystemLog {
  return (message, cause, level = "warn") => {
    const fields = {
      time: new Date().toISOString(),
      level,
      message,
      cause: cause == null ? undefined : causeText(cause),
    };
    write(`${JSON.stringify(fields)}\n`);
  };
}

function line(event: RequestEvent): string {
  const fields = {
    time: new Date(event.at).toISOString(),
    level: event.status >= 500 ? "error" : "info",
    message: "request",
    request_id: event.requestId,
    route: event.route,
    status: event.status,
    code: event.code ?? undefined,
    duration_ms: rounded(event.durationMs),
    first_byte_ms: event.firstByteMs === null ? undefined : rounded(event.firstByteMs),
    stream: event.isStream || undefined,
    organization: event.organizationId ?? undefined,
    key: event.keyId ?? undefined,
    model: event.model ?? undefined,
    channel: event.channel ?? undefined,
    usage: event.usage ?? undefined,
    surplus: event.surplus || undefined,
    amount: event.amount === 0n ? undefined : formatNanos(event.amount),
    attempts: event.attempts.length > 0 ? event.attempts : undefined,
    cause: event.cause === undefined ? undefined : causeText(event.cause),
  };
  return `${JSON.stringify(fields)}\n`;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** A cause as text, without credentials that a vendor may have echoed. */
function causeText(cause: unknown): string {
  return redact(describeCause(cause)).slice(0, MAX_CAUSE);
}

/** A vendor's words about a rejected request or refused content may quote the prompt, which is never logged. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // A driver's own words say what failed: a refused connection, a missing bucket, a wrong signature.
  if (cause instanceof DependencyError && cause.cause !== undefined)
    return `${cause.name}: ${cause.message}: ${describeCause(cause.cause)}`;
  const quotes = cause instanceof UpstreamError && (cause.kind === "rejected" || cause.kind === "refused");
  return `${cause.name}: ${quotes ? `${cause.kind} with status ${cause.status ?? "none"}` : cause.message}`;
}

/** Replaces everything that looks like a key, a bearer token or the credentials of an address. */
export function redact(text: string): string {
  return text
    .replace(/:\/\/[^\s/@]{1,500}@/g, "://[redacted]@")
    .replace(/\b(?:gk_|sk-|Bearer\s+)[\w.~+/=-]{6,}/gi, "[redacted]")
    .replace(/data:[\w/+.;=-]*,[^\s"']{16,}/g, "[data]");
}
