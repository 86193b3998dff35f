import { DURATION_BUCKETS, type TrafficCount } from "../../domain/traffic.ts";
import type { Sums } from "../database/sql.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The tables of traffic, the span of a row and how long it is kept. Keys would make minutes too many. */
export const TRAFFIC_LEVELS = [
  { table: "traffic_minutes", spanMs: MINUTE_MS, keptMs: 2 * DAY_MS, hasKeys: false },
  { table: "traffic_hours", spanMs: 60 * MINUTE_MS, keptMs: 400 * DAY_MS, hasKeys: true },
  { table: "traffic_days", spanMs: DAY_MS, keptMs: 400 * DAY_MS, hasKeys: true },
] as const;

const KEY = ["at", "organization_id", "key_id", "model", "channel", "route", "status", "code"];

/** Names of the columns of durations. */
export const DURATION_COLUMNS = Array.from({ length: DURATION_BUCKETS }, (_, index) => `d${index}`);

/** What the counts of a process add to each table. */
export function trafficSums(counts: readonly TrafficCount[]): Sums[] {
  return TRAFFIC_LEVELS.map(({ table, spanMs, hasKeys }) => {
    const rows = new Map<string, Record<string, string | number>>();
    for (const count of counts) {
      const row = rowOf(count, spanMs, hasKeys);
      const name = KEY.map((column) => row[column]).join("\n");
      const known = rows.get(name);
      if (!known) rows.set(name, row);
      else
        for (const column of ["requests", ...DURATION_COLUMNS])
          known[column] = Number(known[column]) + Number(row[column]);
    }
    // Two processes that add to the same rows take their locks in one order.
    const names = [...rows.keys()].sort();
    return { table, key: KEY, rows: names.map((name) => rows.get(name) ?? {}) };
  });
}

function rowOf(count: TrafficCount, spanMs: number, hasKeys: boolean): Record<string, string | number> {
  return {
    at: count.at - (count.at % spanMs),
    organization_id: count.organizationId,
    key_id: hasKeys ? count.keyId : "",
    model: count.model,
    channel: count.channel,
    route: count.route,
    status: Number(count.status),
    code: count.code,
    requests: count.requests,
    ...Object.fromEntries(DURATION_COLUMNS.map((column, index) => [column, count.durations[index] ?? 0])),
  };
}
