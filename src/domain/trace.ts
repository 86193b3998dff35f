/**
 * The trace of one request by W3C Trace Context, while traces are exported. Ids are in lower-case hexadecimal: 32 digits of
 * a trace, 16 of a span.
 */
export interface RequestTrace {
  readonly traceId: string;
  /** The caller's span; null for a trace that begins here. */
  readonly parentId: string | null;
  readonly spanId: string;
  /** False when the trace is not exported; vendors are told its id all the same. */
  readonly isSampled: boolean;
  /** The spans of the calls to vendors, in the order of the request's attempts. */
  readonly attempts: AttemptSpan[];
}

export interface AttemptSpan {
  readonly spanId: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
}

/** Begins a trace, or the part of the caller's trace that runs here. `ownId` is the trace id where the caller sends none. */
export type BeginTrace = (traceparent: string | null, ownId: string) => RequestTrace;

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|-)/;
const RANDOM_DIGITS = 14;

/** Returns a function that samples the share `ratio` of all traces, by their ids: all services sample the same ones. */
export function traceSampler(ratio: number): BeginTrace {
  // By the 56 random bits of the id (W3C Trace Context, level 2).
  const threshold = (1 - ratio) * 16 ** RANDOM_DIGITS;
  return (traceparent, ownId) => {
    const [, callersId, parentId = null] = (traceparent !== null && TRACEPARENT.exec(traceparent)) || [];
    const traceId = callersId ?? ownId;
    const isSampled = Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= threshold;
    return { traceId, parentId, spanId: newSpanId(), isSampled, attempts: [] };
  };
}

/** Returns the header that names the trace and the calling span to a callee. */
export function traceparentOf({ traceId, isSampled }: RequestTrace, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export function newSpanId(): string {
  return crypto.getRandomValues(new Uint8Array(8)).toHex();
}
