/**
 * The trace of a request (W3C Trace Context), while traces are exported. Ids are lower-case hexadecimal: 32 digits for
 * a trace, 16 for a span.
 */
export interface RequestTrace {
  readonly traceId: string;
  /** Id of the caller's span; null for a trace that begins in this gateway. */
  readonly parentId: string | null;
  readonly spanId: string;
  /** False when the trace is not exported. Vendors get its id anyway. */
  readonly isSampled: boolean;
  /** The spans of the calls to vendors, in the order of the attempts; empty when the trace is not exported. */
  readonly attempts: AttemptSpan[];
}

export interface AttemptSpan {
  readonly spanId: string;
  /** Monotonic milliseconds at which the call began. */
  readonly startedAt: number;
}

/** Continues the caller's trace, or begins a trace whose id consists of the digits of `id` (request or job). */
export type BeginTrace = (traceparent: string | null, id: string) => RequestTrace;

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|-)/;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const RANDOM_DIGITS = 14;

/**
 * Returns a function that begins traces, of which the share `ratio` is exported. The trace id decides if a trace is
 * exported, so that all services with the same ratio export the same traces.
 */
export function traceSampler(ratio: number): BeginTrace {
  // The 56 random bits of the id decide (W3C Trace Context, level 2). They are compared as texts of equal length,
  // which costs half of what parsing costs. Every hexadecimal text is below "g".
  const threshold = Math.ceil((1 - ratio) * 16 ** RANDOM_DIGITS).toString(16);
  const first = threshold.length > RANDOM_DIGITS ? "g" : threshold.padStart(RANDOM_DIGITS, "0");
  return (traceparent, id) => {
    const [, callersId, parentId = null] = (traceparent !== null && TRACEPARENT.exec(traceparent)) || [];
    const traceId = callersId ?? id.slice(-TRACE_DIGITS);
    const isSampled = traceId.slice(-RANDOM_DIGITS) >= first;
    // The span id is the random end of `id`. This saves the generation of an id.
    return { traceId, parentId, spanId: id.slice(-SPAN_DIGITS), isSampled, attempts: [] };
  };
}

/** Returns the id of a trace that can be looked up: a caller's trace or an exported trace; null otherwise. */
export function visibleTraceId({ traceId, parentId, isSampled }: RequestTrace): string | null {
  return isSampled || parentId !== null ? traceId : null;
}

/** Returns the `traceparent` header for a call that a span makes. */
export function traceparentOf({ traceId, isSampled }: RequestTrace, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export function newSpanId(): string {
  return crypto.getRandomValues(new Uint8Array(SPAN_DIGITS / 2)).toHex();
}
