import type {
  SpendingSum,
  TrafficDimension,
  TrafficSum,
  UsageDimension,
  UsageRange,
  UsageStore,
  UsageSum,
} from "../../admin/usage/store-port.ts";
import { nextSpan, startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { addSums } from "../database/insert-statement.ts";
import { firstOf } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { DURATION_COLUMNS, TRAFFIC_LEVELS, trafficSums } from "./usage-sums.ts";
import { systemClock } from "../../lib/clock.ts";

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
      return rows.map((row) => Object.assign(namesOf(row, by), { errors: Number(row["errors"] ?? 0) }));
    },
    async traffic(range, by) {
      const rows = await database.read((sql) => selectTraffic(sql, range, by));
      return readTraffic(rows, by);
    },
    async addTraffic(counts) {
      await database.begin((sql) => addSums(database.kind, sql, trafficSums(counts)));
    },
    async sweepTraffic() {
      for (const { table, keptMs } of TRAFFIC_LEVELS)
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

const COLUMNS: Readonly<Record<TrafficDimension, string>> = {
  at: "at",
  organizationId: "organization_id",
  keyId: "key_id",
  model: "model",
  channel: "channel",
  route: "route",
  code: "code",
};

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
  const [first, ...others] = partsOf(range, by);
  const select = (part: UsageRange) =>
    sql`SELECT * FROM ${sql.unsafe(`usage_${part.span}s`)} WHERE ${conditions(sql, part)}`;
  const rows = others.reduce((all, part) => sql`${all} UNION ALL ${select(part)}`, select(first));
  return sql<SumRow[]>`SELECT ${columns} FROM (${rows}) AS rows GROUP BY ${sql.unsafe(names.join(", "))}`;
}

/** Splits a range so that whole months are read from the table of months, unless sums are of single days: few rows, not many. */
function partsOf(range: UsageRange, by: readonly UsageDimension[]): [UsageRange, ...UsageRange[]] {
  const { from, to, span } = range;
  const last = startOfSpan("month", to);
  const first = startOfSpan("month", from) === from ? from : nextSpan("month", from);
  if (span !== "day" || by.includes("at") || first >= last) return [range];
  return [
    { ...range, span: "month", from: first, to: last },
    { ...range, to: first },
    { ...range, from: last },
  ];
}

function sumOf(column: string): string {
  return `SUM(${column}) AS ${column}`;
}

function textSumOf(column: string): string {
  return `CAST(SUM(${column}) AS TEXT) AS ${column}`;
}

/** Codes and outcomes that are none of an error. */
const FINE = "'', 'caller_gone', 'cancelled', 'answered', 'stopped'";
const IS_ERROR = `(code NOT IN (${FINE}) OR (code = '' AND status >= 4))`;

function selectErrors(sql: Sql, range: UsageRange, by: readonly UsageDimension[]) {
  const names = by.map((name) => COLUMNS[name]).join(", ");
  return sql<
    SumRow[]
  >`SELECT ${sql.unsafe(names)}, SUM(requests) AS errors FROM ${sql.unsafe(`traffic_${range.span}s`)}
    WHERE ${conditions(sql, range)} AND ${sql.unsafe(IS_ERROR)} AND route <> 'attempt' GROUP BY ${sql.unsafe(names)}`;
}

/** Selects sums of traffic. Requests with an error have rows of their own. */
function selectTraffic(sql: Sql, range: UsageRange, by: readonly TrafficDimension[]) {
  const names = by.map((name) => COLUMNS[name]);
  const flag = `CASE WHEN ${IS_ERROR} THEN 1 ELSE 0 END AS is_error`;
  const numbers = ["requests", ...DURATION_COLUMNS].map(sumOf);
  const wanted = by.includes("route") ? sql`` : sql`AND route <> 'attempt'`;
  return sql<SumRow[]>`SELECT ${sql.unsafe([...names, flag, ...numbers].join(", "))}
    FROM ${sql.unsafe(`traffic_${range.span}s`)} WHERE ${conditions(sql, range)} ${wanted}
    GROUP BY ${sql.unsafe([...names, "is_error"].join(", "))}`;
}

function conditions(sql: Sql, { from, to, organizations, keys, models, channels }: UsageRange) {
  return sql`at >= ${from} AND at < ${to}
    ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql([...organizations])}`}
    ${keys === undefined ? sql`` : sql`AND key_id IN ${sql([...keys])}`}
    ${models === undefined ? sql`` : sql`AND model IN ${sql([...models])}`}
    ${channels === undefined ? sql`` : sql`AND channel IN ${sql([...channels])}`}`;
}

function namesOf(row: SumRow, by: readonly TrafficDimension[]) {
  const text = (name: TrafficDimension): string => (by.includes(name) ? String(row[COLUMNS[name]]) : "");
  return {
    at: by.includes("at") ? Number(row["at"]) : 0,
    organizationId: text("organizationId"),
    keyId: text("keyId"),
    model: text("model"),
    channel: text("channel"),
  };
}

function readSpending(row: SumRow, by: readonly UsageDimension[]): SpendingSum {
  return {
    ...namesOf(row, by),
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
    categories: Object.fromEntries(
      TOKEN_CATEGORIES.map((category) => [category, Number(row[TOKEN_CATEGORY_NAMES[category]])]),
    ) as UsageSum["categories"],
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
