import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../admin-error.ts";
import { daysIn, nextSpan, startOfSpan } from "../../domain/calendar.ts";
import type { SpendingSum, UsageRange } from "./store-port.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/**
 * Maximum ranges for which points of a minute, a quarter of an hour, an hour and a day are the default, so that a
 * series stays readable.
 */
const MAX_MINUTES_MS = 2 * HOUR_MS;
const MAX_QUARTERS_MS = DAY_MS + HOUR_MS;
const MAX_HOURS_MS = 2 * DAY_MS;
const MAX_DAYS_MS = 124 * DAY_MS;
/** Maximum range of sums by days of a time zone, if the days must be summed from hours. See `UsageRange.days`. */
const MAX_ZONE_DAYS_OF_HOURS_MS = 32 * DAY_MS;
/** A range that began longer ago than this cannot be read by the minute, because sums by the minute are removed. */
const MINUTES_KEPT_MS = 2 * DAY_MS - HOUR_MS;
/** Maximum range, which is the time for which traffic is kept. */
const MAX_RANGE_MS = 400 * DAY_MS;

type Interval = "minute" | "quarter" | "hour" | "day" | "month";

/**
 * A range, divided into the points of a chart. The start is rounded down and the end is rounded up to the minute. If
 * the range cannot be read by the minute, or if its points are days of a time zone, start and end are rounded to the
 * hour. An end that is not in the past is always rounded to the minute.
 */
export interface Series {
  /** Unix milliseconds. */
  from: number;
  /** End, exclusive. */
  to: number;
  interval: Interval;
  /** Starts of the points, each as long as `interval`. The first and the last may extend beyond the range. */
  points: number[];
  /** True when the last point has not ended yet. */
  isUnfinished: boolean;
  /**
   * Time zone of the points. It differs from UTC only if the points are days and the range is short enough to be summed
   * by the days of the zone.
   */
  zone: string;
  /** The range, the span and the days of the sums to read. */
  where: Pick<UsageRange, "from" | "to" | "span" | "days">;
}

/**
 * Returns the range and points for a reading of sums. Throws 400 for a range that is empty, or that is too long or too
 * old for its interval.
 */
export function readSeries(
  {
    from,
    to,
    interval,
    zone: wantedZone = "UTC",
    isOfHours = false,
  }: {
    from?: number | undefined;
    to?: number | undefined;
    interval?: Interval | undefined;
    zone?: string | undefined;
    isOfHours?: boolean;
  },
  now: number,
  usualMs: number,
): Series {
  const wanted = to ?? now;
  const begin = from ?? wanted - usualMs;
  // A range that has begun ends now at the latest, because the future has no points.
  const end = begin < now ? Math.min(wanted, now) : wanted;
  if (begin >= end) throw new AdminError(400, "from", operatorMessage("error.range.from", {}));
  if (end - begin > MAX_RANGE_MS)
    throw new AdminError(400, "from", operatorMessage("error.range.longest", {}));
  const hasMinutes = now - begin <= MINUTES_KEPT_MS;
  const chosen = interval ?? usualInterval(end - begin, hasMinutes);
  if (chosen === "hour" && end - begin > 31 * DAY_MS)
    throw new AdminError(400, "interval", operatorMessage("error.range.hours", {}));
  if ((chosen === "minute" || chosen === "quarter") && !(hasMinutes && end - begin <= MAX_HOURS_MS))
    throw new AdminError(400, "interval", `by the ${chosen} the range lies within the last 47 hours`);
  const maxZoneMs = isOfHours ? MAX_ZONE_DAYS_OF_HOURS_MS : MAX_DAYS_MS;
  const isOfZone = chosen === "day" && wantedZone !== "UTC" && end - begin <= maxZoneMs;
  // The range starts at an hour because sums by the days of a zone have no minutes.
  const cut = hasMinutes && !isOfZone ? "minute" : "hour";
  const first = startOfSpan(cut, begin);
  const lastCut = end >= now ? "minute" : cut;
  const last = nextSpan(lastCut, startOfSpan(lastCut, end - 1));
  const zone = isOfZone ? wantedZone : "UTC";
  const { startOf, nextOf } = isOfZone
    ? daysIn(zone)
    : { startOf: (at: number) => startOfSpan(chosen, at), nextOf: (at: number) => nextSpan(chosen, at) };
  const points: number[] = [];
  for (let at = startOf(first); at < last; at = nextOf(at)) points.push(at);
  const isUnfinished = nextOf(points.at(-1) ?? first) > now;
  // A range that ends now is read up to the end of the month, so that the running hour, day or month is read from one
  // row for each combination of names. There are no rows after now.
  const until = last < now ? last : nextSpan("month", startOfSpan("month", last));
  const where = { from: first, to: until, span: chosen, ...(isOfZone && { days: points }) };
  return { from: first, to: last, interval: chosen, points, isUnfinished, zone, where };
}

function usualInterval(lengthMs: number, hasMinutes: boolean): Interval {
  if (hasMinutes && lengthMs <= MAX_MINUTES_MS) return "minute";
  if (hasMinutes && lengthMs <= MAX_QUARTERS_MS) return "quarter";
  if (lengthMs <= MAX_HOURS_MS) return "hour";
  return lengthMs <= MAX_DAYS_MS ? "day" : "month";
}

/** Returns the range just before a series, as long as the series. */
export function previousOf({ from, to, interval }: Series): { from: number; to: number; span: Interval } {
  return { from: from - (to - from), to: from, span: interval };
}

/** Returns the currencies of sums, by descending number of requests, and the currency in which amounts are shown. */
export function chooseCurrency(
  sums: readonly SpendingSum[],
  wanted: string | undefined,
  otherwise: string,
): { currency: string; currencies: string[] } {
  const requests = new Map<string, number>();
  for (const sum of sums) requests.set(sum.currency, (requests.get(sum.currency) ?? 0) + sum.requests);
  const currencies = [...requests]
    .toSorted(([one, more], [other, less]) => less - more || (one < other ? -1 : 1))
    .map(([currency]) => currency);
  return { currency: wanted ?? currencies[0] ?? otherwise, currencies };
}
