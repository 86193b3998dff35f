/** A length of time that sums are kept for, in UTC. */
export type Span = "minute" | "quarter" | "hour" | "day" | "month";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Lengths of the spans that always have the same, in milliseconds; a quarter is one of an hour. */
export const SPAN_MS = { minute: MINUTE_MS, quarter: 15 * MINUTE_MS, hour: 60 * MINUTE_MS, day: DAY_MS };

/** Returns the start of the span that contains a time, in Unix milliseconds. */
export function startOfSpan(span: Span, at: number): number {
  if (span !== "month") return at - (at % SPAN_MS[span]);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** Returns the start of the span after the one with this start. */
export function nextSpan(span: Span, start: number): number {
  if (span !== "month") return start + SPAN_MS[span];
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The period after which a budget begins anew; days and months are in UTC. */
export type Period = "total" | "day" | "month";

/** Milliseconds that a period may begin ahead of the clock; one further ahead was started by a wrong clock. */
const MAX_AHEAD_MS = { day: 2 * DAY_MS, month: 62 * DAY_MS };

/** Returns the start of the period that contains `now`, in Unix milliseconds; a total begins now. */
export function periodStart(period: Period, now: number): number {
  return period === "total" ? now : startOfSpan(period, now);
}

/** Returns the end of the period with this start, in Unix milliseconds; null for a total. */
export function periodEnd(period: Period, startedAt: number): number | null {
  return period === "total" ? null : nextSpan(period, startedAt);
}

/**
 * Returns the start of the running period, given the start of the last known one. It is never earlier, so that a clock
 * that jumps back resets nothing twice. A start too far in the future was set by a wrong clock and is corrected, so
 * that resets go on.
 */
export function runningPeriod(period: Period, startedAt: number, now: number): number {
  if (period === "total") return startedAt;
  const start = periodStart(period, now);
  return startedAt - now > MAX_AHEAD_MS[period] ? start : Math.max(startedAt, start);
}

/**
 * True when a charge made at `at` counts in the period that began at `startedAt`. While that start lies in the future
 * because the clock jumped, all charges of the current period count in it.
 */
export function countsInPeriod(period: Period, startedAt: number, at: number, now: number): boolean {
  return period === "total" || at >= Math.min(startedAt, periodStart(period, now));
}
