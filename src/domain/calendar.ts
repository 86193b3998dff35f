/** A time span for which sums are made. Days and months are in UTC. */
export type Span = "minute" | "quarter" | "hour" | "day" | "month";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Lengths in milliseconds of spans with a fixed length. A `quarter` is a quarter of an hour. */
export const SPAN_MS = { minute: MINUTE_MS, quarter: 15 * MINUTE_MS, hour: 60 * MINUTE_MS, day: DAY_MS };

/** Returns the start of the span that contains a time, in Unix milliseconds. */
export function startOfSpan(span: Span, at: number): number {
  if (span !== "month") return at - (at % SPAN_MS[span]);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** Returns the start of the next span. `start` is the start of a span. */
export function nextSpan(span: Span, start: number): number {
  if (span !== "month") return start + SPAN_MS[span];
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/**
 * The days of a time zone, which have 23 to 25 hours. `startOf` returns the start of the day that contains `at`.
 * `nextOf` returns the start of the day after the day that begins at `start`. `zone` is an IANA name.
 */
export function daysIn(zone: string): { startOf(at: number): number; nextOf(start: number): number } {
  // Making a format takes a hundred times as long as using it.
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  const startOf = (at: number): number => {
    const local = at + offsetOf(format, at);
    const midnight = local - (local % DAY_MS);
    // The zone's offset may have changed since midnight.
    return midnight - offsetOf(format, midnight - offsetOf(format, at));
  };
  return { startOf, nextOf: (start) => startOf(start + 1.5 * DAY_MS) };
}

/** Returns the offset of a time zone from UTC at a time, in milliseconds; positive east of UTC. */
function offsetOf(format: Intl.DateTimeFormat, at: number): number {
  const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours, minutes] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
  return sign === "-" ? -ahead : ahead;
}

/** The time after which a budget starts at zero again. Days and months are in UTC; `total` never ends. */
export type Period = "total" | "day" | "month";

/** Maximum milliseconds from now to the start of a period. A later start was set by a wrong clock. */
const MAX_AHEAD_MS = { day: 2 * DAY_MS, month: 62 * DAY_MS };

/** Returns the start of the period that contains `now`, in Unix milliseconds. A `total` starts at `now`. */
export function periodStart(period: Period, now: number): number {
  return period === "total" ? now : startOfSpan(period, now);
}

/** Returns the end of the period with this start, in Unix milliseconds; null for `total`, which has no end. */
export function periodEnd(period: Period, startedAt: number): number | null {
  return period === "total" ? null : nextSpan(period, startedAt);
}

/**
 * Returns the start of the current period. `startedAt` is the start of the last known period. The result is not earlier
 * than `startedAt`, so that a clock that was set back does not reset a budget twice. A `startedAt` too far in the
 * future is ignored: a wrong clock has set it, and it would prevent resets for a long time.
 */
export function runningPeriod(period: Period, startedAt: number, now: number): number {
  if (period === "total") return startedAt;
  const start = periodStart(period, now);
  return startedAt - now > MAX_AHEAD_MS[period] ? start : Math.max(startedAt, start);
}

/**
 * True when a charge at `at` counts in the period that began at `startedAt`. If a wrong clock has set `startedAt` to
 * the future, all charges of the current period count.
 */
export function countsInPeriod(period: Period, startedAt: number, at: number, now: number): boolean {
  return period === "total" || at >= Math.min(startedAt, periodStart(period, now));
}
