import type { LedgerEntry } from "../../domain/ledger.ts";
import { DURATION_BUCKETS, type TrafficCount } from "../../domain/traffic.ts";
import { type Span, startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import type { Sums } from "../database/sql.ts";
import { entriesOf } from "../../lib/json.ts";
import { NestedMap } from "../../lib/nested-map.ts";

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

/** Time spans in milliseconds that rows in tables of series cover: a day, four hours, an hour, a quarter of an hour. */
export const SERIES_SPANS_MS = [86_400_000, 14_400_000, 3_600_000, 900_000] as const;

/** In tables of series, the `organization_id` of rows that contain the sums of all organizations. */
export const ALL_ORGANIZATIONS = "*";

/** The columns with which the key of each table of series begins. */
export const SPAN_KEY = ["span_ms", "organization_id", "at"] as const;

/**
 * The tables of sums for series of days in any time zone. They have few rows for each start of a span, because a series
 * over months reads many spans.
 */
export const SERIES = {
  usage: [
    { table: "usage_series", key: [...SPAN_KEY, "model", "currency", "channel"] },
    { table: "caller_series", key: [...SPAN_KEY, "source", "currency", "client"] },
  ],
  traffic: [{ table: "traffic_series", key: [...SPAN_KEY, "route", "status", "code"] }],
} as const;

const TOKEN_COLUMNS = TOKEN_CATEGORIES.map((category) => TOKEN_CATEGORY_NAMES[category]);
export const USAGE_NUMBERS = ["requests", "images", "tokens", ...TOKEN_COLUMNS];
export const USAGE_MONEY = ["amount", "orphan_cost", "vendor_cost", "costed"];

const USAGE = {
  levels: LEVELS,
  key: USAGE_KEY,
  numbers: [...USAGE_NUMBERS, ...USAGE_MONEY],
  series: SERIES.usage,
};

/** The numeric columns besides the columns of the token categories. */
interface UsageNumbers {
  requests: number;
  images: number;
  tokens: number;
  amount: bigint;
  orphan_cost: bigint;
  vendor_cost: bigint;
  costed: bigint;
}

type UsageRow = SumRow & UsageNumbers;

/** Returns the amounts to add to each table of sums for new entries. */
export function usageSums(entries: readonly LedgerEntry[]): Sums[] {
  const minutes = new Map<number, NestedMap<UsageRow>>();
  const all: UsageRow[] = [];
  for (const entry of entries) {
    const at = startOfSpan("minute", entry.at);
    let rows = minutes.get(at);
    if (!rows) minutes.set(at, (rows = new NestedMap()));
    const { organizationId, keyId, model, channel, source = "", client = "", currency } = entry;
    const names = [organizationId, keyId, model, channel, source, client, currency];
    let row = rows.get(names);
    if (!row) {
      const key = { at, organization_id: organizationId, key_id: keyId, model, channel, source, client };
      row = newRow({ ...key, currency });
      rows.set(names, row);
      all.push(row);
    }
    addEntry(row, entry);
  }
  return sumsOf(USAGE, all);
}

function newRow(key: { at: number } & Record<(typeof USAGE_KEY)[number], string | number>): UsageRow {
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

export const TRAFFIC_SERIES_KEPT_MS = 400 * DAY_MS;

/** The tables of traffic, each with the time span of a row and the time for which rows are kept. */
export const TRAFFIC_LEVELS = [
  { table: "traffic_minutes", span: "minute", keptMs: MINUTES_KEPT_MS },
  { table: "traffic_hours", span: "hour", keptMs: 400 * DAY_MS },
  { table: "traffic_days", span: "day", keptMs: 400 * DAY_MS },
  { table: "traffic_months", span: "month", keptMs: 430 * DAY_MS },
] as const;

const KEY = ["at", "organization_id", "key_id", "model", "channel", "route", "status", "code"];

/** Columns that count requests by duration, one for each bucket of `durationBucket`. */
export const DURATION_COLUMNS = Array.from({ length: DURATION_BUCKETS }, (_, index) => `d${index}`);
export const TRAFFIC_NUMBERS = ["requests", "charged", ...DURATION_COLUMNS];

const TRAFFIC = { levels: TRAFFIC_LEVELS, key: KEY, numbers: TRAFFIC_NUMBERS, series: SERIES.traffic };

/** Returns the rows that the counts of a process add to each table. */
export function trafficSums(counts: readonly TrafficCount[]): Sums[] {
  return sumsOf(TRAFFIC, counts.map(rowOf));
}

function rowOf(count: TrafficCount): SumRow {
  return {
    at: count.at,
    organization_id: count.organizationId,
    // Only failed requests are counted by key. Successful requests would make too many rows, and are in the ledger.
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

/** A row of a table of sums: the start of its span, names, and numbers. */
interface SumRow {
  at: number;
  [column: string]: string | number | bigint;
}

interface SummedTables {
  levels: readonly { table: string; span: Span }[];
  key: readonly string[];
  numbers: readonly string[];
  series: readonly { table: string; key: readonly string[] }[];
}

/**
 * Returns the rows of all tables, made from rows by minute. The tables of series come last, because transactions wait
 * for each other at the rows that count all organizations.
 */
function sumsOf({ levels, key, numbers, series }: SummedTables, minutes: readonly SumRow[]): Sums[] {
  const positions = SERIES_SPANS_MS.map((spanMs): Position => (at) => ({
    span_ms: spanMs,
    at: at - (at % spanMs),
  }));
  const ofAll = positions.map((positionOf): Position => (at) => ({
    ...positionOf(at),
    organization_id: ALL_ORGANIZATIONS,
  }));
  return [
    ...levels.map(({ table, span }) => ({
      table,
      key,
      rows: added(minutes, key, numbers, [(at) => ({ at: startOfSpan(span, at) })]),
    })),
    ...series.map(({ table, key: own }) => {
      const quarters = added(minutes, own, numbers, positions.slice(-1));
      return { table, key: own, rows: added(quarters, own, numbers, [...positions, ...ofAll]) };
    }),
  ];
}

type Position = (at: number) => Readonly<Record<string, string | number>> & { at: number };

/**
 * Adds up rows that have the same key. Each row is added once for each position. The columns of the position replace
 * the same columns of the row. The result is ordered by the key, so that two transactions that add to the same rows
 * lock them in the same order.
 */
function added(
  rows: readonly SumRow[],
  key: readonly string[],
  numbers: readonly string[],
  positions: readonly Position[],
): SumRow[] {
  const columns = [...key, ...numbers];
  const groups = new Map<string, SumRow>();
  for (const positionOf of positions)
    for (const row of rows) {
      const position = positionOf(row.at);
      let name = "";
      for (const column of key) {
        const value = position[column] ?? row[column] ?? "";
        name += `${typeof value === "number" ? String(value).padStart(16, "0") : value}\n`;
      }
      const group = groups.get(name);
      if (group) for (const column of numbers) group[column] = plus(group[column], row[column]);
      else groups.set(name, rowAt(position, row, columns));
    }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

function rowAt(position: ReturnType<Position>, row: SumRow, columns: readonly string[]): SumRow {
  const placed: SumRow = { at: position.at };
  for (const column of columns) placed[column] = position[column] ?? row[column] ?? 0;
  return placed;
}

function plus(one: unknown, other: unknown): number | bigint {
  return typeof one === "bigint" && typeof other === "bigint" ? one + other : Number(one) + Number(other);
}
