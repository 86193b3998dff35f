import type { LedgerEntry } from "../../domain/ledger.ts";
import { DURATION_BUCKETS, type TrafficCount } from "../../domain/traffic.ts";
import { type Span, startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import type { Sums } from "../database/sql.ts";
import { entriesOf } from "../../lib/json.ts";

/** The tables of sums of the ledger, each with the time span of its rows. */
const LEVELS = [
  { table: "usage_minutes", span: "minute" },
  { table: "usage_hours", span: "hour" },
  { table: "usage_days", span: "day" },
  { table: "usage_months", span: "month" },
] as const;

const USAGE_KEY = [
  "at",
  "organization_id",
  "key_id",
  "model",
  "channel",
  "source",
  "client",
  "currency",
] as const;

/** The numeric columns besides those of the token categories. */
interface UsageNumbers {
  requests: number;
  images: number;
  tokens: number;
  amount: bigint;
  orphan_cost: bigint;
  vendor_cost: bigint;
  costed: bigint;
}

type UsageRow = Record<(typeof USAGE_KEY)[number], string | number> & UsageNumbers & Record<string, unknown>;

/** Returns the amounts to add to the sums of minutes, hours, days and months for new entries. */
export function usageSums(entries: readonly LedgerEntry[]): Sums[] {
  return LEVELS.map(({ table, span }) => {
    const rows = new Map<string, UsageRow>();
    for (const entry of entries) {
      const at = startOfSpan(span, entry.at);
      const { organizationId, keyId, model, channel, source = "", client = "", currency } = entry;
      const names = [organizationId, keyId, model, channel, source, client, currency];
      const name = [String(at).padStart(16, "0"), ...names].join("\n");
      let row = rows.get(name);
      if (!row) {
        const key = { at, organization_id: organizationId, key_id: keyId, model, channel, source, client };
        row = newRow({ ...key, currency });
        rows.set(name, row);
      }
      addEntry(row, entry);
    }
    // The names are sorted, so that two transactions that add to the same rows lock them in the same order.
    const names = [...rows.keys()].sort();
    return { table, key: USAGE_KEY, rows: names.map((name) => rows.get(name) ?? {}) };
  });
}

function newRow(key: Record<(typeof USAGE_KEY)[number], string | number>): UsageRow {
  const tokens = Object.fromEntries(
    TOKEN_CATEGORIES.map((category) => [TOKEN_CATEGORY_NAMES[category], 0]),
  ) as Record<string, number>;
  return {
    ...key,
    requests: 0,
    images: 0,
    tokens: 0,
    ...tokens,
    amount: 0n,
    orphan_cost: 0n,
    vendor_cost: 0n,
    costed: 0n,
  };
}

function addEntry(
  row: UsageRow,
  { kind, usage, amount, currency, orphanCost, vendorCost }: LedgerEntry,
): void {
  if (kind === "charge") row.requests += 1;
  row.amount += amount;
  row.orphan_cost += orphanCost;
  if (vendorCost?.currency === currency) {
    row.vendor_cost += vendorCost.amount;
    row.costed += amount;
  }
  if (usage?.unit === "image") row.images += usage.count;
  else if (usage)
    for (const [category, count] of entriesOf(usage.tokens)) {
      const column = TOKEN_CATEGORY_NAMES[category];
      row[column] = (row[column] as number) + count;
      row.tokens += count;
    }
}

const DAY_MS = 24 * 60 * 60_000;

/** Time for which rows of minutes are kept. */
export const MINUTES_KEPT_MS = 2 * DAY_MS;

/** The tables of traffic, each with the time span of a row and the time for which rows are kept. */
export const TRAFFIC_LEVELS = [
  { table: "traffic_minutes", span: "minute", keptMs: MINUTES_KEPT_MS },
  { table: "traffic_hours", span: "hour", keptMs: 400 * DAY_MS },
  { table: "traffic_days", span: "day", keptMs: 400 * DAY_MS },
  { table: "traffic_months", span: "month", keptMs: 430 * DAY_MS },
] as const;

const KEY = ["at", "organization_id", "key_id", "model", "channel", "route", "status", "code"];

/** Names of the columns of durations. */
export const DURATION_COLUMNS = Array.from({ length: DURATION_BUCKETS }, (_, index) => `d${index}`);

/** Returns the rows that the counts of a process add to each table. */
export function trafficSums(counts: readonly TrafficCount[]): Sums[] {
  return TRAFFIC_LEVELS.map(({ table, span }) => {
    const rows = new Map<string, Record<string, string | number>>();
    for (const count of counts) {
      const row = rowOf(count, span);
      const name = KEY.map((column) => row[column]).join("\n");
      const known = rows.get(name);
      if (!known) rows.set(name, row);
      else
        for (const column of ["requests", "charged", ...DURATION_COLUMNS])
          known[column] = Number(known[column]) + Number(row[column]);
    }
    // The names are sorted, so that two processes that add to the same rows lock them in the same order.
    const names = [...rows.keys()].sort();
    return { table, key: KEY, rows: names.map((name) => rows.get(name) ?? {}) };
  });
}

function rowOf(count: TrafficCount, span: Span): Record<string, string | number> {
  return {
    at: startOfSpan(span, count.at),
    organization_id: count.organizationId,
    // Only failed requests are counted by key. Successful ones would make too many rows, and the ledger has their sums.
    key_id: count.code !== "" ? count.keyId : "",
    model: count.model,
    channel: count.channel,
    route: count.route,
    status: Number(count.status),
    code: count.code,
    requests: count.requests,
    charged: count.charged,
    ...Object.fromEntries(DURATION_COLUMNS.map((column, index) => [column, count.durations[index] ?? 0])),
  };
}
