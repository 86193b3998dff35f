const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const RANDOM_DIGITS = 14;
/** The calls of a trace that is not exported. */
const NO_SPANS: AttemptSpan[] = [];

/**
 * The trace of a request (W3C Trace Context), while traces are exported. Ids are lower-case hexadecimal: 32 digits for
 * a trace, 16 for a span. Ids that are not the caller's are cut out of the request's id when they are read, because few
 * traces are exported.
 */
export class RequestTrace {
  readonly #id: string;
  readonly #callersId: string | null;
  /** Id of the caller's span; null for a trace that begins in this gateway. */
  readonly parentId: string | null;
  /** False when the trace is not exported. Vendors get its id anyway. */
  readonly isSampled: boolean;
  /** The spans of the calls to vendors, in the order of the attempts; empty when the trace is not exported. */
  readonly attempts: AttemptSpan[];

  /** `id` is the id of the request or job. `first` is the lowest end of a trace id that is exported. */
  constructor(id: string, callersId: string | null, parentId: string | null, first: string) {
    this.#id = id;
    this.#callersId = callersId;
    this.parentId = parentId;
    this.isSampled = endsAtOrAbove(callersId ?? id, first);
    this.attempts = this.isSampled ? [] : NO_SPANS;
  }

  get traceId(): string {
    return this.#callersId ?? this.#id.slice(-TRACE_DIGITS);
  }

  /** The random end of `id`, which saves the generation of an id. */
  get spanId(): string {
    return this.#id.slice(-SPAN_DIGITS);
  }
}

/** Compares the last digits of a trace id with `first`, which has as many digits or is the text "g". */
function endsAtOrAbove(id: string, first: string): boolean {
  const start = id.length - RANDOM_DIGITS;
  for (let index = 0; index < RANDOM_DIGITS; index += 1) {
    const difference = id.charCodeAt(start + index) - first.charCodeAt(index);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

export interface AttemptSpan {
  readonly spanId: string;
  /** Monotonic milliseconds at which the call began. */
  readonly startedAt: number;
}

/** Continues the caller's trace, or begins a trace whose id consists of the digits of `id` (request or job). */
export type BeginTrace = (traceparent: string | null, id: string) => RequestTrace;

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|-)/;

/**
 * Returns a function that begins traces, of which the share `ratio` is exported. The trace id decides if a trace is
 * exported, so that all services with the same ratio export the same traces.
 */
export function traceSampler(ratio: number): BeginTrace {
  // The 56 random bits of the id decide (W3C Trace Context, level 2). Every hexadecimal digit is below "g".
  const threshold = Math.ceil((1 - ratio) * 16 ** RANDOM_DIGITS).toString(16);
  const first = threshold.length > RANDOM_DIGITS ? "g" : threshold.padStart(RANDOM_DIGITS, "0");
  return (traceparent, id) => {
    const [, callersId = null, parentId = null] =
      (traceparent !== null && TRACEPARENT.exec(traceparent)) || [];
    return new RequestTrace(id, callersId, parentId, first);
  };
}

/** Returns the id of a trace that can be looked up: a caller's trace or an exported trace; null otherwise. */
export function visibleTraceId(trace: RequestTrace): string | null {
  return trace.isSampled || trace.parentId !== null ? trace.traceId : null;
}

/** Returns the `traceparent` header for a call that a span makes. */
export function traceparentOf({ traceId, isSampled }: RequestTrace, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export function newSpanId(): string {
  return crypto.getRandomValues(new Uint8Array(SPAN_DIGITS / 2)).toHex();
}
