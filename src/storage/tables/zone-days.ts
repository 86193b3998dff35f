import type { UsageRange } from "../../admin/usage/store-port.ts";
import { SPAN_MS } from "../../domain/calendar.ts";

const DAY_MS = SPAN_MS.day;

/** A range whose sums over time are sums of the days of a time zone. */
export type ZoneRange = UsageRange & Required<Pick<UsageRange, "days">>;

/** Lengths of the rows from which the edges of days are read, in descending order; all are parts of a day. */
export type Lengths = readonly number[];

/**
 * Returns the spans from which `joinDays` makes the sums of a zone's days. `whole` consists of days in UTC. The pieces
 * lie between each edge (the start or end of a day of the zone) and the midnight in UTC that is nearest to the edge.
 * Together they have far fewer rows than all hours of the range. A piece is read from rows of one length, and `point`
 * is its edge. When no row is short enough, all of the last row counts in the day in which the row begins.
 */
export function zoneParts(range: ZoneRange, lengths: Lengths) {
  const edges = edgesOf(range);
  const shortest = lengths.at(-1) ?? DAY_MS;
  const pieces = edges.flatMap(({ at: point, midnight }) => {
    const end = Math.ceil(point / shortest) * shortest;
    let start = midnight;
    return lengths.flatMap((lengthMs) => {
      const stop = midnight + Math.trunc((end - midnight) / lengthMs) * lengthMs;
      const [from = 0, to = 0] = [start, stop].toSorted((one, other) => one - other);
      start = stop;
      return from === to ? [] : [{ lengthMs, from, to, point }];
    });
  });
  return { whole: { from: edges[0]?.midnight ?? 0, to: edges.at(-1)?.midnight ?? 0 }, pieces };
}

/**
 * Makes the sums of a zone's days from the sums of `zoneParts`: a piece at the edge of two days is added to one of
 * these days and subtracted from the other. Leaves out sums that are zero in every number.
 */
export function joinDays(
  rows: readonly SumRow[],
  range: ZoneRange,
  names: readonly string[],
  numbers: readonly string[],
): SumRow[] {
  const { days } = range;
  const edges = edgesOf(range);
  const sums = new Map<string, Record<string, SumRow[string]>>();
  const add = (day: number | undefined, row: SumRow, sign: bigint) => {
    if (day === undefined) return;
    const own: SumRow = { ...row, point: day };
    const name = names.map((column) => own[column]).join("\n");
    const sum = sums.get(name) ?? { ...own, ...Object.fromEntries(numbers.map((column) => [column, 0n])) };
    sums.set(name, sum);
    for (const column of numbers) sum[column] = BigInt(sum[column] ?? 0) + sign * BigInt(row[column] ?? 0);
  };
  for (const row of rows) {
    const point = Number(row["point"]);
    // An edge at midnight has no piece, so a point at midnight is always the start of a day in UTC.
    const isDay = point % DAY_MS === 0;
    const index = edges.findLastIndex(({ at, midnight }) => (isDay ? midnight : at) <= point);
    const edge = edges[index];
    if (edge === undefined) continue;
    const sign = edge.at > edge.midnight ? 1n : -1n;
    add(days[index], row, isDay ? 1n : -sign);
    if (!isDay) add(days[index - 1], row, sign);
  }
  return [...sums.values()].filter((sum) => numbers.some((column) => sum[column] !== 0n));
}

/** Returns the ends of a range and of its days, each with the midnight in UTC that is nearest. */
function edgesOf({ from, to, days }: ZoneRange) {
  return [from, ...days.slice(1), to].map((at) => ({ at, midnight: Math.round(at / DAY_MS) * DAY_MS }));
}

/** A row of a result, by column. */
export type SumRow = Readonly<Record<string, string | bigint | number | null>>;
