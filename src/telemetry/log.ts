import type { Attempt } from "../domain/ledger.ts";
import type { RequestEvent, RequestListener } from "../domain/request-event.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import { formatNanos } from "../lib/money.ts";
import type { LogFields } from "./log-fields.table.ts";
import { redact } from "./redaction.ts";
import { after } from "../lib/waiting.ts";
import { systemClock } from "../lib/clock.ts";

const FLUSH_MS = 25;
const MAX_CAUSE = 500;

/** Log levels, from the least to the most important. */
const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

interface RequestLog {
  listener: RequestListener;
  /** Writes the waiting lines. Call it when the process ends. */
  flush(): void;
}

/**
 * Writes one JSON line for each request of at least the level `minimum`, after its end. Lines are written in batches.
 * They contain only the fields of `LOG_FIELDS`: no headers, bodies, prompts or keys.
 */
export function requestLog(write: (lines: string) => void, minimum: LogLevel = "info"): RequestLog {
  let lines = "";
  let cancelFlush: (() => void) | undefined;
  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = undefined;
    if (lines !== "") write(lines);
    lines = "";
  };
  return {
    listener: (event) => {
      if (!isLogged(levelOf(event), minimum)) return;
      lines += line(event, minimum);
      cancelFlush ??= after(FLUSH_MS, flush);
    },
    flush,
  };
}

export type SystemLog = (message: string, cause: unknown, level?: LogLevel) => void;

/**
 * Writes one line for each event outside of requests, by default at level `warn`. A failure caused by an unavailable
 * database has the level `debug`, because one line already reports the unavailable database.
 */
export function systemLog(write: (lines: string) => void, minimum: LogLevel = "info"): SystemLog {
  return (message, cause, level = isDatabaseAway(cause) ? "debug" : "warn") => {
    if (!isLogged(level, minimum)) return;
    const fields = {
      time: new Date(systemClock.now()).toISOString(),
      level,
      message,
      cause: cause == null ? undefined : causeText(cause, minimum),
    };
    write(`${JSON.stringify(fields)}\n`);
  };
}

function isDatabaseAway(cause: unknown): boolean {
  return cause instanceof DependencyError && cause.dependency === "database";
}

/** Routes of probes. They are logged only at `debug`, because probes arrive every few seconds. */
const PROBES: ReadonlySet<string> = new Set(["health", "readiness", "metrics"]);

function levelOf({ status, route }: RequestEvent): LogLevel {
  if (PROBES.has(route)) return "debug";
  return status >= 500 ? "error" : "info";
}

function isLogged(level: LogLevel, minimum: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum);
}

function line(event: RequestEvent, minimum: LogLevel): string {
  const fields: LogFields = {
    time: timeOf(event.at),
    level: levelOf(event),
    message: "request",
    request_id: event.requestId,
    ledger_id: event.ledgerId ?? undefined,
    trace_id: event.traceId ?? undefined,
    route: event.route,
    method: event.address === null ? undefined : event.method,
    path: event.address === null ? undefined : event.path,
    address: event.address ?? undefined,
    status: event.status,
    code: event.code ?? undefined,
    duration_ms: rounded(event.durationMs),
    first_byte_ms: event.firstByteMs === null ? undefined : rounded(event.firstByteMs),
    stream: event.isStream || undefined,
    organization: event.organizationId ?? undefined,
    key: event.keyId ?? undefined,
    source: event.source ?? undefined,
    model: event.model ?? undefined,
    channel: event.channel ?? undefined,
    usage: event.usage ?? undefined,
    surplus: event.surplus || undefined,
    amount: event.amount === 0n ? undefined : formatNanos(event.amount),
    currency: event.currency ?? undefined,
    attempts: event.attempts.length > 0 ? event.attempts.map(attemptFields) : undefined,
    cause: event.cause === undefined ? undefined : causeText(event.cause, minimum),
  };
  return `${JSON.stringify(fields)}\n`;
}

/** Cache of the last formatted time, because many requests end in the same millisecond. */
const written = { at: 0, text: "" };

function timeOf(at: number): string {
  if (at !== written.at) Object.assign(written, { at, text: new Date(at).toISOString() });
  return written.text;
}

function attemptFields(attempt: Attempt): object {
  return {
    channel: attempt.channel,
    upstream_model: attempt.upstreamModel,
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    ambiguous: attempt.isAmbiguous,
    vendor_request_id: attempt.vendorRequestId,
    ignored_params: attempt.ignoredParams,
  };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** Returns a cause as text. Removes credentials that a vendor may have repeated in its message. */
export function causeText(cause: unknown, minimum: LogLevel): string {
  return redact(describeCause(cause, minimum === "debug")).slice(0, MAX_CAUSE);
}

/** Describes a cause. Adds a vendor's message only at the debug level, because it may quote the prompt. */
function describeCause(cause: unknown, isDebug: boolean): string {
  if (!(cause instanceof Error)) return String(cause);
  // The driver's message says what failed: a refused connection, a missing bucket, a wrong signature.
  if (cause instanceof DependencyError && cause.cause !== undefined) {
    const advice = cause.advice === null ? "" : `; ${cause.advice}`;
    return `${cause.name}: ${cause.message}: ${describeCause(cause.cause, isDebug)}${advice}`;
  }
  if (!(cause instanceof UpstreamError)) return `${cause.name}: ${cause.message}`;
  const words = isDebug && cause.vendorMessage ? `: ${cause.vendorMessage}` : "";
  return `${cause.name}: ${cause.kind}: ${cause.message}${words}`;
}
