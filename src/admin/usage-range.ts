import { AdminError } from "./admin-error.ts";
import type { UsageRange, UsageSum } from "./usage-ports.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** Points of a series that stay readable, and that are quick to read. */
const MAX_HOURS = 48;
const MAX_DAYS = 124;
/** Longest range: traffic is kept for so long. */
const MAX_RANGE_MS = 400 * DAY_MS;

/** The points of a series. */
export type Interval = "hour" | "day" | "month";

/** A range with its points. */
export interface Series {
  /** Unix milliseconds, at the beginning of a point. */
  from: number;
  /** Exclusive. */
  to: number;
  interval: Interval;
  /** Beginnings of the points. */
  points: number[];
}

/** The range of a reading: it begins with a whole point. Throws 400 for one that is empty or too long. */
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
  const first = startOf(chosen, begin);
  const points: number[] = [];
  for (let at = first; at < end; at = nextStart(chosen, at)) points.push(at);
  return { from: first, to: end, interval: chosen, points };
}

function usualInterval(lengthMs: number): Interval {
  if (lengthMs <= MAX_HOURS * HOUR_MS) return "hour";
  return lengthMs <= MAX_DAYS * DAY_MS ? "day" : "month";
}

/** The beginning of the point that a time belongs to; in UTC. */
export function startOf(interval: Interval, at: number): number {
  if (interval === "hour") return at - (at % HOUR_MS);
  if (interval === "day") return at - (at % DAY_MS);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function nextStart(interval: Interval, at: number): number {
  if (interval !== "month") return at + (interval === "hour" ? HOUR_MS : DAY_MS);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** What is read of the sums for a series: hours for points of an hour, else days. */
export function rangeOf({ from, to, interval }: Series): Pick<UsageRange, "from" | "to" | "span"> {
  return { from, to, span: interval === "hour" ? "hour" : "day" };
}

/** The currencies of some sums, the one with most requests first, and which of them amounts are shown in. */
export function chooseCurrency(
  sums: readonly UsageSum[],
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
