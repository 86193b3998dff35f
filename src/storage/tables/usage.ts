import type {
  SpendingSum,
  TrafficDimension,
  TrafficSum,
  UsageDimension,
  UsageRange,
  UsageStore,
  UsageSum,
} from "../../admin/usage/store-port.ts";
import { startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { addSums } from "../database/insert-statement.ts";
import { firstOf } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import { addMissingSeries } from "./missing-series.ts";
import { asZoneRange, groupBy, type Summed, sumOf, sumsOfParts } from "./sums-of-parts.ts";
import {
  DURATION_COLUMNS,
  MINUTES_KEPT_MS,
  TRAFFIC_LEVELS,
  TRAFFIC_SERIES_KEPT_MS,
  trafficSums,
  USAGE_MONEY,
  USAGE_NUMBERS,
} from "./usage-sums.ts";
import { joinDays, type SumRow } from "./zone-days.ts";
import { systemClock } from "../../lib/clock.ts";
import { recordFrom } from "../../lib/json.ts";

/** The store of usage: sums of the ledger and sums of traffic. */
export function usageStore(database: Database): UsageStore {
  const { kind } = database;
  return {
    async sums(range, by) {
      const rows = await readRows(database, range, usageBy(by, USAGE_NUMBERS, USAGE_MONEY));
      return rows.map((row) => readSum(row, by));
    },
    async spending(range, by) {
      const rows = await readRows(database, range, usageBy(by, ["requests", "images", "tokens"], ["amount"]));
      return rows.map((row) => readSpending(row, by));
    },
    async counts(range, by) {
      const rows = await readRows(database, range, countsBy(by));
      return rows.map((row) =>
        Object.assign(namesOf(row, by), {
          requests: Number(row["requests"]),
          errors: Number(row["errors"]),
          charged: Number(row["charged_errors"]),
        }),
      );
    },
    async traffic(range, by) {
      return readTraffic(await readRows(database, range, trafficBy(by)), by);
    },
    async addTraffic(counts) {
      await database.begin((sql) => addSums(kind, sql, trafficSums(counts)));
    },
    async maintain() {
      for (const { table, keptMs } of [USAGE_MINUTES, ...TRAFFIC_LEVELS])
        await database.begin(
          (sql) => sql`DELETE FROM ${sql.unsafe(table)} WHERE at < ${systemClock.now() - keptMs}`,
        );
      // The rows of a whole day are removed together, because sums subtract some of these rows from others.
      const before = startOfSpan("day", systemClock.now() - TRAFFIC_SERIES_KEPT_MS);
      await database.begin((sql) => sql`DELETE FROM traffic_series WHERE at < ${before}`);
      await addMissingSeries(database, systemClock.now());
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

/** The sums to read, with the names of the numbers that are money. */
type Read = Summed & { money: readonly string[] };

function usageBy(by: readonly UsageDimension[], numbers: readonly string[], money: readonly string[]): Read {
  const names = [...by.map((name) => COLUMNS[name]), "currency"];
  return { table: "usage", names, numbers: [...numbers, ...money], money };
}

async function readRows(database: Database, range: UsageRange, read: Read): Promise<readonly SumRow[]> {
  const { keys = [] } = range;
  // Each row is of one key. PostgreSQL reads the rows of several keys on two connections at the same time.
  if (database.kind !== "postgres" || keys.length < 2 || !read.names.includes("key_id"))
    return await readTogether(database, range, read);
  const middle = Math.ceil(keys.length / 2);
  const halves = [keys.slice(0, middle), keys.slice(middle)];
  return (
    await Promise.all(halves.map((half) => readTogether(database, { ...range, keys: half }, read)))
  ).flat();
}

async function readTogether(database: Database, range: UsageRange, read: Read): Promise<readonly SumRow[]> {
  const { names, numbers, money } = read;
  const columns = numbers.map((column) =>
    money.includes(column) ? `CAST(SUM(${column}) AS TEXT) AS ${column}` : sumOf(column),
  );
  const rows = await database.read((sql) => {
    const parts = sumsOfParts({ kind: database.kind, sql }, range, read);
    return sql<SumRow[]>`SELECT ${sql.unsafe([...names, ...columns].join(", "))}
      FROM (${parts}) AS parts ${sql.unsafe(groupBy(names))}`;
  });
  const zoned = asZoneRange(range, names);
  return zoned ? joinDays(rows, zoned, names, numbers) : rows;
}

/** Error codes and outcomes that do not count as errors. */
const FINE = "'', 'caller_gone', 'cancelled', 'answered', 'stopped'";
const IS_ERROR = `(code NOT IN (${FINE}) OR (code = '' AND status >= 4))`;

const TRAFFIC = {
  table: "traffic",
  expressions: {
    is_error: `CASE WHEN ${IS_ERROR} THEN 1 ELSE 0 END`,
    errors: `CASE WHEN ${IS_ERROR} THEN requests ELSE 0 END`,
    charged_errors: `CASE WHEN ${IS_ERROR} THEN charged ELSE 0 END`,
  },
} as const;

const IS_REQUEST = "route <> 'attempt'";

function countsBy(by: readonly TrafficDimension[]): Read {
  const names = by.map((name) => COLUMNS[name]);
  return {
    ...TRAFFIC,
    names,
    numbers: ["requests", "errors", "charged_errors"],
    money: [],
    where: IS_REQUEST,
  };
}

/** Selects sums of traffic. Requests with an error have rows of their own. */
function trafficBy(by: readonly TrafficDimension[]): Read {
  const names = [...by.map((name) => COLUMNS[name]), "is_error"];
  const where = by.includes("route") ? {} : { where: IS_REQUEST };
  return { ...TRAFFIC, names, numbers: ["requests", ...DURATION_COLUMNS], money: [], ...where };
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
