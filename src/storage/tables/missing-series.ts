import { startOfSpan } from "../../domain/calendar.ts";
import type { Database } from "../database/sql.ts";
import {
  ALL_ORGANIZATIONS,
  SERIES,
  SERIES_SPANS_MS,
  TRAFFIC_NUMBERS,
  USAGE_MONEY,
  USAGE_NUMBERS,
} from "./usage-sums.ts";

const [DAY_MS, , HOUR_MS] = SERIES_SPANS_MS;
const DAYS = 2;

/**
 * Adds missing rows of today and the two days before to the tables of series, from the tables of hours. A process of an
 * earlier version may still run, and adds only to the tables of hours.
 */
export async function addMissingSeries(database: Database, now: number): Promise<void> {
  const since = startOfSpan("day", now) - DAYS * DAY_MS;
  const usage = { numbers: [...USAGE_NUMBERS, ...USAGE_MONEY], compared: ["requests", "amount"] };
  const traffic = { numbers: TRAFFIC_NUMBERS, compared: ["requests"] };
  for (const series of SERIES.usage) await addMissing(database, "usage", series, { ...usage, since });
  for (const series of SERIES.traffic) await addMissing(database, "traffic", series, { ...traffic, since });
}

interface Missing {
  numbers: readonly string[];
  /** Numbers whose sums by day are compared first. Equal sums prove with little reading that nothing is missing. */
  compared: readonly string[];
  since: number;
}

async function addMissing(
  { begin, kind, read }: Database,
  name: keyof typeof SERIES,
  { table, key }: { table: string; key: readonly string[] },
  { numbers, compared, since }: Missing,
): Promise<void> {
  const ofAll = `span_ms = ${DAY_MS} AND organization_id = '${ALL_ORGANIZATIONS}'`;
  const different = compared.map(
    (column) => `(SELECT COALESCE(SUM(${column}), 0) FROM ${name}_days WHERE at >= ${since}) <>
      (SELECT COALESCE(SUM(${column}), 0) FROM ${table} WHERE ${ofAll} AND at >= ${since})`,
  );
  const found = await read((sql) => sql.unsafe<object[]>(`SELECT 1 AS one WHERE ${different.join(" OR ")}`));
  if (found.length === 0) return;
  const names = key.filter((column) => !["span_ms", "organization_id", "at"].includes(column));
  const owners = `SELECT organization_id FROM ${name}_days WHERE at >= ${since} UNION SELECT '${ALL_ORGANIZATIONS}'`;
  const rowsOf = (owner: string, sign: string, from: string) =>
    `SELECT ${[`${owner} AS owner`, "at", ...names, ...numbers.map((column) => `${sign}${column} AS ${column}`)].join(", ")}
      FROM ${from} AND at >= ${since}`;
  const spans = SERIES_SPANS_MS.map((spanMs) => `SELECT ${spanMs} AS span_ms`).join(" UNION ALL ");
  const sums = numbers.map((column) => `SUM(${column})`);
  await begin(async (sql) => {
    // Waits for transactions that have added to hours and not yet to series.
    if (kind === "postgres") await sql.unsafe(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    await sql.unsafe(`INSERT INTO ${table} (${[...key, ...numbers].join(", ")})
      SELECT ${["span_ms", "owner", "at - at % span_ms", ...names, ...sums].join(", ")} FROM (
        ${rowsOf("organization_id", "", `${name}_hours WHERE 1 = 1`)} UNION ALL
        ${rowsOf(`'${ALL_ORGANIZATIONS}'`, "", `${name}_hours WHERE 1 = 1`)} UNION ALL
        ${rowsOf("organization_id", "-", `${table} WHERE span_ms = ${HOUR_MS} AND organization_id IN (${owners})`)}
      ) AS hours CROSS JOIN (${spans}) AS spans WHERE 1 = 1
      GROUP BY ${key.map((_, index) => index + 1).join(", ")} HAVING ${sums.map((sum) => `${sum} <> 0`).join(" OR ")}
      ON CONFLICT (${key.join(", ")}) DO UPDATE
        SET ${numbers.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(", ")}`);
  });
}
