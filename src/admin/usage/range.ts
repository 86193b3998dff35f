import { AdminError } from "../admin-error.ts";
import { nextSpan, startOfSpan } from "../../domain/calendar.ts";
import type { SpendingSum } from "./store-port.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** Points of a series that stay readable, and that are quick to read. */
const MAX_HOURS = 48;
const MAX_DAYS = 124;
/** Longest range: traffic is kept for so long. */
const MAX_RANGE_MS = 400 * DAY_MS;

/** The points of a series. */
type Interval = "hour" | "day" | "month";

/** A range with its points; it begins and ends with a whole one. */
export interface Series {
  /** Unix milliseconds. */
  from: number;
  /** Exclusive; of the running point in the future. */
  to: number;
  interval: Interval;
  /** Beginnings of the points. */
  points: number[];
}

/** The range of a reading, with whole points. Throws 400 for one that is empty or too long. */
export function readSeries(
  {
    from,
    to,
    interval,
  }: { from?: number | undefined; to?: number | undefined; interval?: Interval | undefined },
  now: number,
  usualMs: number,
): Series {
  const end = to ?? now;
  const begin = from ?? end - usualMs;
  if (begin >= end) throw new AdminError(400, "from", "from must be before to");
  if (end - begin > MAX_RANGE_MS) throw new AdminError(400, "from", "the range is at most 400 days");
  const chosen = interval ?? usualInterval(end - begin);
  if (chosen === "hour" && end - begin > 31 * DAY_MS)
    throw new AdminError(400, "interval", "by the hour the range is at most 31 days");
  const points: number[] = [];
  let at = startOfSpan(chosen, begin);
  for (; at < end; at = nextSpan(chosen, at)) points.push(at);
  return { from: points[0] ?? begin, to: at, interval: chosen, points };
}

function usualInterval(lengthMs: number): Interval {
  if (lengthMs <= MAX_HOURS * HOUR_MS) return "hour";
  return lengthMs <= MAX_DAYS * DAY_MS ? "day" : "month";
}

/** The currencies of some sums, the one with most requests first, and which of them amounts are shown in. */
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
