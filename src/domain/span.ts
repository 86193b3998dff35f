/** A length of time that sums are kept for, in UTC. */
export type Span = "minute" | "hour" | "day" | "month";

const MINUTE_MS = 60_000;
const LENGTHS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS };

/** Returns the start of the span that contains a time, in Unix milliseconds. */
export function startOfSpan(span: Span, at: number): number {
  if (span !== "month") return at - (at % LENGTHS[span]);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** Returns the start of the span after the one with this start. */
export function nextSpan(span: Span, start: number): number {
  if (span !== "month") return start + LENGTHS[span];
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
