import type {
  TrafficDimension,
  TrafficSum,
  UsageDimension,
  UsageRange,
  UsageStore,
  UsageSum,
} from "../../admin/usage-ports.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { addSums } from "../database/add-sums.ts";
import { firstOf } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";
import { DURATION_COLUMNS, TRAFFIC_LEVELS, trafficSums } from "./traffic.ts";
import { backfilledUntil, backfillUsage } from "./usage-backfill.ts";

/** Sums of the ledger and of traffic. */
export function usageStore(database: Database): UsageStore {
  return {
    async sums(range, by) {
      const rows = await database.read((sql) => selectSums(sql, range, by));
      return rows.map((row) => readSum(row, by));
    },
    async traffic(range, by) {
      const rows = await database.read((sql) => selectTraffic(sql, range, by));
      return rows.map((row) => readTraffic(row, by));
    },
    async addTraffic(counts) {
      await database.begin((sql) => addSums(database.kind, sql, trafficSums(counts)));
    },
    backfilledUntil: () => backfilledUntil(database),
    backfill: () => backfillUsage(database, Date.now()),
    async sweepTraffic() {
      for (const { table, keptMs } of TRAFFIC_LEVELS)
        await database.begin(
          (sql) => sql`DELETE FROM ${sql.unsafe(table)} WHERE at < ${Date.now() - keptMs}`,
        );
    },
    async hasPictures() {
      const rows = await database.read(
        (sql) => sql<object[]>`SELECT 1 AS one FROM usage_days WHERE images > 0 LIMIT 1`,
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
  const names = [...by.map((name) => COLUMNS[name]), "currency"];
  const numbers = ["requests", "images", ...TOKEN_COLUMNS].map((column) => `SUM(${column}) AS ${column}`);
  const money = MONEY_COLUMNS.map((column) => `CAST(SUM(${column}) AS TEXT) AS ${column}`);
  const table = range.span === "day" ? "usage_days" : "usage_hours";
  return sql<
    SumRow[]
  >`SELECT ${sql.unsafe([...names, ...numbers, ...money].join(", "))} FROM ${sql.unsafe(table)}
    WHERE ${conditions(sql, range)} GROUP BY ${sql.unsafe(names.join(", "))}`;
}

function selectTraffic(sql: Sql, range: UsageRange, by: readonly TrafficDimension[]) {
  const names = by.map((name) => COLUMNS[name]);
  const isError =
    "code NOT IN ('', 'caller_gone', 'cancelled', 'answered', 'stopped') OR (code = '' AND status >= 4)";
  const numbers = [
    "SUM(requests) AS requests",
    `SUM(CASE WHEN ${isError} THEN requests ELSE 0 END) AS errors`,
    ...DURATION_COLUMNS.map((column) => `SUM(CASE WHEN ${isError} THEN 0 ELSE ${column} END) AS ${column}`),
  ];
  const table = `traffic_${range.span}s`;
  const group = names.length === 0 ? sql`` : sql`GROUP BY ${sql.unsafe(names.join(", "))}`;
  const wanted = by.includes("route") ? sql`` : sql`AND route <> 'attempt'`;
  return sql<SumRow[]>`SELECT ${sql.unsafe([...names, ...numbers].join(", "))} FROM ${sql.unsafe(table)}
    WHERE ${conditions(sql, range)} ${wanted} ${group}`;
}

function conditions(sql: Sql, { from, to, organizations, keyId, model, channel }: UsageRange) {
  return sql`at >= ${from} AND at < ${to}
    ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql([...organizations])}`}
    ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}
    ${channel === undefined ? sql`` : sql`AND channel = ${channel}`}`;
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

function readSum(row: SumRow, by: readonly UsageDimension[]): UsageSum {
  const money = (column: string): bigint => BigInt(row[column] ?? 0);
  return {
    ...namesOf(row, by),
    currency: String(row["currency"]),
    requests: Number(row["requests"]),
    images: Number(row["images"]),
    tokens: Object.fromEntries(
      TOKEN_CATEGORIES.map((category) => [category, Number(row[TOKEN_CATEGORY_NAMES[category]])]),
    ) as UsageSum["tokens"],
    amount: money("amount"),
    orphanCost: money("orphan_cost"),
    vendorCost: money("vendor_cost"),
    costed: money("costed"),
  };
}

function readTraffic(row: SumRow, by: readonly TrafficDimension[]): TrafficSum {
  return {
    ...namesOf(row, by),
    route: by.includes("route") ? String(row["route"]) : "",
    code: by.includes("code") ? String(row["code"]) : "",
    requests: Number(row["requests"] ?? 0),
    errors: Number(row["errors"] ?? 0),
    durations: DURATION_COLUMNS.map((column) => Number(row[column] ?? 0)),
  };
}
