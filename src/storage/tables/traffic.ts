import { DURATION_BUCKETS, type TrafficCount } from "../../domain/traffic.ts";
import { startOfSpan, type Span } from "../../domain/span.ts";
import type { Sums } from "../database/sql.ts";

const DAY_MS = 24 * 60 * 60_000;

/** The tables of traffic, the span of a row and how long it is kept. */
export const TRAFFIC_LEVELS = [
  { table: "traffic_minutes", span: "minute", keptMs: 2 * DAY_MS },
  { table: "traffic_hours", span: "hour", keptMs: 400 * DAY_MS },
  { table: "traffic_days", span: "day", keptMs: 400 * DAY_MS },
  { table: "traffic_months", span: "month", keptMs: 430 * DAY_MS },
] as const;

const KEY = ["at", "organization_id", "key_id", "model", "channel", "route", "status", "code"];

/** Names of the columns of durations. */
export const DURATION_COLUMNS = Array.from({ length: DURATION_BUCKETS }, (_, index) => `d${index}`);

/** The rows that the counts of a process add to each table. */
export function trafficSums(counts: readonly TrafficCount[]): Sums[] {
  return TRAFFIC_LEVELS.map(({ table, span }) => {
    const rows = new Map<string, Record<string, string | number>>();
    for (const count of counts) {
      const row = rowOf(count, span);
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

function rowOf(count: TrafficCount, span: Span): Record<string, string | number> {
  return {
    at: startOfSpan(span, count.at),
    organization_id: count.organizationId,
    // All keys would make too many rows, and of those whose requests succeed the ledger has sums.
    key_id: span !== "minute" && count.code !== "" ? count.keyId : "",
    model: count.model,
    channel: count.channel,
    route: count.route,
    status: Number(count.status),
    code: count.code,
    requests: count.requests,
    ...Object.fromEntries(DURATION_COLUMNS.map((column, index) => [column, count.durations[index] ?? 0])),
  };
}
