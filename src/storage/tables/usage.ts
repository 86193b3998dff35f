import type {
  SpendingSum,
  TrafficDimension,
  TrafficSum,
  UsageDimension,
  UsageRange,
  UsageStore,
  UsageSum,
} from "../../admin/usage/store-port.ts";
import { nextSpan, type Span, SPAN_MS, startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { addSums } from "../database/insert-statement.ts";
import { firstOf } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { DURATION_COLUMNS, MINUTES_KEPT_MS, TRAFFIC_LEVELS, trafficSums } from "./usage-sums.ts";
import { systemClock } from "../../lib/clock.ts";
import { recordFrom } from "../../lib/json.ts";

/** Sums of the ledger and of traffic. */
export function usageStore(database: Database): UsageStore {
  return {
    async sums(range, by) {
      const rows = await database.read((sql) => selectSums(sql, range, by));
      return rows.map((row) => readSum(row, by));
    },
    async spending(range, by) {
      const rows = await database.read((sql) => selectSpending(sql, range, by));
      return rows.map((row) => readSpending(row, by));
    },
    async errors(range, by) {
      const rows = await database.read((sql) => selectErrors(sql, range, by));
      return rows.map((row) =>
        Object.assign(namesOf(row, by), {
          errors: Number(row["errors"] ?? 0),
          charged: Number(row["charged"] ?? 0),
        }),
      );
    },
    async traffic(range, by) {
      const rows = await database.read((sql) => selectTraffic(sql, range, by));
      return readTraffic(rows, by);
    },
    async addTraffic(counts) {
      await database.begin((sql) => addSums(database.kind, sql, trafficSums(counts)));
    },
    async sweepTraffic() {
      for (const { table, keptMs } of [USAGE_MINUTES, ...TRAFFIC_LEVELS])
        await database.begin(
          (sql) => sql`DELETE FROM ${sql.unsafe(table)} WHERE at < ${systemClock.now() - keptMs}`,
        );
    },
    async hasPictures() {
      const rows = await database.read(
        (sql) => sql<object[]>`SELECT 1 AS one FROM usage_months WHERE images > 0 LIMIT 1`,
      );
      return firstOf(rows) !== null;
    },
  };
}

type Dimension = UsageDimension | TrafficDimension;

const COLUMNS: Readonly<Record<Dimension, string>> = {
  at: "point",
  organizationId: "organization_id",
  keyId: "key_id",
  model: "model",
  channel: "channel",
  source: "source",
  client: "client",
  route: "route",
  code: "code",
};

const USAGE_MINUTES = { table: "usage_minutes", keptMs: MINUTES_KEPT_MS };

const TOKEN_COLUMNS = TOKEN_CATEGORIES.map((category) => TOKEN_CATEGORY_NAMES[category]);
const MONEY_COLUMNS = ["amount", "orphan_cost", "vendor_cost", "costed"];

type SumRow = Record<string, string | bigint | number | null>;

function selectSums(sql: Sql, range: UsageRange, by: readonly UsageDimension[]) {
  const numbers = ["requests", "images", "tokens", ...TOKEN_COLUMNS].map(sumOf);
  return selectFromUsage(sql, range, by, [...numbers, ...MONEY_COLUMNS.map(textSumOf)]);
}

function selectSpending(sql: Sql, range: UsageRange, by: readonly UsageDimension[]) {
  return selectFromUsage(sql, range, by, [
    ...["requests", "images", "tokens"].map(sumOf),
    textSumOf("amount"),
  ]);
}

function selectFromUsage(
  sql: Sql,
  range: UsageRange,
  by: readonly UsageDimension[],
  numbers: readonly string[],
) {
  const names = [...by.map((name) => COLUMNS[name]), "currency"];
  const columns = sql.unsafe([...names, ...numbers].join(", "));
  return sql<SumRow[]>`SELECT ${columns} FROM (${rowsOf(sql, "usage", range, by)}) AS parts
    GROUP BY ${sql.unsafe(names.join(", "))}`;
}

/** The rows of a range, each with the start of its span as `point`. */
function rowsOf(sql: Sql, kind: "usage" | "traffic", range: UsageRange, by: readonly Dimension[]) {
  const [first, ...others] = partsOf(range, by);
  const select = (part: Part) =>
    sql`SELECT ${sql.unsafe(`${pointOf(range.span, part)} AS point, rows.*`)}
      FROM ${sql.unsafe(`${kind}_${part.table}s`)} AS rows WHERE ${conditions(sql, { ...range, ...part })}`;
  return others.reduce((all, part) => sql`${all} UNION ALL ${select(part)}`, select(first));
}

/** A piece of a range that is read from one table. */
interface Part {
  table: (typeof TABLES)[number];
  from: number;
  to: number;
}

const TABLES = ["month", "day", "hour", "minute"] as const;

/**
 * Splits a range into spans, so that its middle is read from as few rows as possible and only its ends from rows of
 * short spans.
 */
function partsOf({ from, to, span }: UsageRange, by: readonly Dimension[]): [Part, ...Part[]] {
  const longest = span === "quarter" ? "minute" : span;
  const tables = by.includes("at") ? TABLES.slice(TABLES.indexOf(longest)) : TABLES;
  const [first = { table: "minute", from, to }, ...others] = split(from, to, tables);
  return [first, ...others];
}

function split(from: number, to: number, tables: readonly Part["table"][]): Part[] {
  const [table, ...finer] = tables;
  if (table === undefined || from >= to) return [];
  if (finer.length === 0) return [{ table, from, to }];
  const start = startOfSpan(table, from);
  const first = start === from ? from : nextSpan(table, start);
  const last = startOfSpan(table, to);
  if (first > last) return split(from, to, finer);
  const middle: Part[] = first < last ? [{ table, from: first, to: last }] : [];
  return [...middle, ...split(from, first, finer), ...split(last, to, finer)];
}

/** Returns the SQL of the start of a row's span; the rows of a part are never of two months unless they are whole months. */
function pointOf(span: Span, { table, from }: Part): string {
  if (span === table) return "rows.at";
  return span === "month" ? String(startOfSpan("month", from)) : `rows.at - rows.at % ${SPAN_MS[span]}`;
}

function sumOf(column: string): string {
  return `SUM(${column}) AS ${column}`;
}

function textSumOf(column: string): string {
  return `CAST(SUM(${column}) AS TEXT) AS ${column}`;
}

/** Codes and outcomes that are no error. */
const FINE = "'', 'caller_gone', 'cancelled', 'answered', 'stopped'";
const IS_ERROR = `(code NOT IN (${FINE}) OR (code = '' AND status >= 4))`;

function selectErrors(sql: Sql, range: UsageRange, by: readonly TrafficDimension[]) {
  const names = by.map((name) => COLUMNS[name]).join(", ");
  return sql<SumRow[]>`SELECT ${sql.unsafe(names)}, SUM(requests) AS errors, SUM(charged) AS charged
    FROM (${rowsOf(sql, "traffic", range, by)}) AS parts
    WHERE ${sql.unsafe(IS_ERROR)} AND route <> 'attempt' GROUP BY ${sql.unsafe(names)}`;
}

/** Selects sums of traffic. Requests with an error have rows of their own. */
function selectTraffic(sql: Sql, range: UsageRange, by: readonly TrafficDimension[]) {
  const names = by.map((name) => COLUMNS[name]);
  const flag = `CASE WHEN ${IS_ERROR} THEN 1 ELSE 0 END AS is_error`;
  const numbers = ["requests", ...DURATION_COLUMNS].map(sumOf);
  const wanted = by.includes("route") ? sql`` : sql`WHERE route <> 'attempt'`;
  return sql<SumRow[]>`SELECT ${sql.unsafe([...names, flag, ...numbers].join(", "))}
    FROM (${rowsOf(sql, "traffic", range, by)}) AS parts ${wanted}
    GROUP BY ${sql.unsafe([...names, "is_error"].join(", "))}`;
}

function conditions(
  sql: Sql,
  { from, to, organizations, keys, models, channels, sources, clients }: UsageRange,
) {
  return sql`at >= ${from} AND at < ${to}
    ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql([...organizations])}`}
    ${keys === undefined ? sql`` : sql`AND key_id IN ${sql([...keys])}`}
    ${models === undefined ? sql`` : sql`AND model IN ${sql([...models])}`}
    ${channels === undefined ? sql`` : sql`AND channel IN ${sql([...channels])}`}
    ${sources === undefined ? sql`` : sql`AND source IN ${sql([...sources])}`}
    ${clients === undefined ? sql`` : sql`AND client IN ${sql([...clients])}`}`;
}

function namesOf(row: SumRow, by: readonly Dimension[]) {
  const text = (name: Dimension): string => (by.includes(name) ? String(row[COLUMNS[name]]) : "");
  return {
    at: by.includes("at") ? Number(row["point"]) : 0,
    organizationId: text("organizationId"),
    keyId: text("keyId"),
    model: text("model"),
    channel: text("channel"),
  };
}

function readSpending(row: SumRow, by: readonly UsageDimension[]): SpendingSum {
  return {
    ...namesOf(row, by),
    source: by.includes("source") ? String(row["source"]) : "",
    client: by.includes("client") ? String(row["client"]) : "",
    currency: String(row["currency"]),
    requests: Number(row["requests"]),
    images: Number(row["images"]),
    tokens: Number(row["tokens"]),
    amount: BigInt(row["amount"] ?? 0),
  };
}

function readSum(row: SumRow, by: readonly UsageDimension[]): UsageSum {
  const money = (column: string): bigint => BigInt(row[column] ?? 0);
  return {
    ...readSpending(row, by),
    categories: recordFrom(TOKEN_CATEGORIES, (category) => Number(row[TOKEN_CATEGORY_NAMES[category]])),
    orphanCost: money("orphan_cost"),
    vendorCost: money("vendor_cost"),
    costed: money("costed"),
  };
}

function readTraffic(rows: readonly SumRow[], by: readonly TrafficDimension[]): TrafficSum[] {
  const sums = new Map<string, TrafficSum>();
  for (const row of rows) {
    const name = by.map((each) => row[COLUMNS[each]]).join("\n");
    const sum = sums.get(name) ?? newTraffic(row, by);
    sums.set(name, sum);
    const requests = Number(row["requests"]);
    sum.requests += requests;
    if (Number(row["is_error"]) === 1) sum.errors += requests;
    else sum.durations = DURATION_COLUMNS.map((column) => Number(row[column]));
  }
  return [...sums.values()];
}

function newTraffic(row: SumRow, by: readonly TrafficDimension[]): TrafficSum {
  return {
    ...namesOf(row, by),
    route: by.includes("route") ? String(row["route"]) : "",
    code: by.includes("code") ? String(row["code"]) : "",
    requests: 0,
    errors: 0,
    durations: DURATION_COLUMNS.map(() => 0),
  };
}
