import type { RequestEvent } from "../domain/request-event.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { RequestListener } from "../gateway/ports.ts";
import { formatNanos } from "../lib/money.ts";

const FLUSH_MS = 25;
const MAX_CAUSE = 500;

export interface RequestLog {
  listener: RequestListener;
  /** Writes what is pending; for the end of the process. */
  flush(): void;
}

/**
 * One JSON line a request, after its end. Lines are made once the answer is on its way, and written in batches. Only
 * listed fields are written: no header, no body, no prompt, no key can get in.
 */
export function requestLog(write: (lines: string) => void): RequestLog {
  const pending: RequestEvent[] = [];
  let lines = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  // An event kept until the writing would outlive a collection, and so would all that hangs on it.
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

/** Tells of trouble outside any request, as a line of its own. */
export function systemLog(write: (lines: string) => void): (message: string, cause: unknown) => void {
  return (message, cause) => {
    const fields = {
      time: new Date().toISOString(),
      level: "warn",
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

/** What an operator needs of a cause, without what a vendor may have echoed of our credentials. */
function causeText(cause: unknown): string {
  return redact(wordsOf(cause)).slice(0, MAX_CAUSE);
}

/** What a vendor says of a request or a content that it does not take may quote it, and prompts are not logged. */
function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const quotes = cause instanceof UpstreamError && (cause.kind === "rejected" || cause.kind === "refused");
  return `${cause.name}: ${quotes ? `${cause.kind} with status ${cause.status ?? "none"}` : cause.message}`;
}

/** Takes anything that looks like a key or a bearer token out of a text. */
export function redact(text: string): string {
  return text
    .replace(/\b(?:gk_|sk-|Bearer\s+)[\w.~+/=-]{6,}/gi, "[redacted]")
    .replace(/data:[\w/+.;=-]*,[^\s"']{16,}/g, "[data]");
}
