import type { UsageRange } from "../../admin/usage/store-port.ts";
import { nextSpan, type Span, SPAN_MS, startOfSpan } from "../../domain/calendar.ts";
import { jsonRows } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { ALL_ORGANIZATIONS, SERIES, SERIES_SPANS_MS } from "./usage-sums.ts";
import { type ZoneRange, zoneParts } from "./zone-days.ts";

/**
 * Returns the sums of each part of a range, one part after the other, as a table for a query that adds them up. Whole
 * months, days and hours are read from tables with such sums; only the ends of the range are read from tables of
 * shorter spans. For the days of a zone, the result is input of `joinDays`.
 */
export function sumsOfParts(database: QueriedDatabase, range: UsageRange, summed: Summed) {
  const { sql } = database;
  const { names, numbers } = summed;
  const [first, ...others] = rowsOfParts(database, range, summed);
  const select = (rows: unknown) =>
    sql`SELECT ${sql.unsafe([...names, ...numbers.map(sumOf)].join(", "))} FROM (${rows}) AS rows
      ${sql.unsafe(groupBy(names))}`;
  return others.reduce<unknown>((all, rows) => sql`${all} UNION ALL ${select(rows)}`, select(first));
}

function rowsOfParts(database: QueriedDatabase, range: UsageRange, summed: Summed): unknown[] {
  const { sql } = database;
  const { table, names } = summed;
  const zoned = asZoneRange(range, names);
  if (zoned) return rowsOfZone(database, zoned, summed);
  const isSeries = hasSeries(range, table, names);
  return partsOf(range, names.includes("point")).map((part) => {
    const point = pointOf(range.span, part);
    const own = { ...range, ...part };
    if (!isSeries || (part.table !== "day" && part.table !== "hour"))
      return rowsOf(database, own, summed, { from: `${table}_${part.table}s`, point });
    const time = sql`${sql.unsafe(seriesOf(range, names, SPAN_MS[part.table]))} at >= ${part.from} AND at < ${part.to}`;
    return rowsOf(database, own, summed, { from: SERIES[table].table, point, time });
  });
}

/**
 * Returns the condition on the rows of a table of series. It selects the length of the rows, and either the sums of all
 * organizations together or the sums of single organizations.
 */
function seriesOf(range: UsageRange, names: readonly string[], spanMs: string | number): string {
  const isOfAll = range.organizations === undefined && !names.includes("organization_id");
  return `span_ms = ${spanMs} AND organization_id ${isOfAll ? "=" : "<>"} '${ALL_ORGANIZATIONS}' AND`;
}

function rowsOfZone(database: QueriedDatabase, range: ZoneRange, summed: Summed): unknown[] {
  const { kind, sql } = database;
  const { table, names } = summed;
  const isSeries = hasSeries(range, table, names);
  const [day, ...shorter] = SERIES_SPANS_MS;
  const { whole, pieces } = zoneParts(range, isSeries ? shorter : [SPAN_MS.hour]);
  const tableOf = (span: string) => (isSeries ? SERIES[table].table : `${table}_${span}`);
  const spanIs = (spanMs: string | number) => (isSeries ? seriesOf(range, names, spanMs) : "");
  const ofWhole = rowsOf(database, range, summed, {
    from: tableOf("days"),
    point: "at",
    time: sql`${sql.unsafe(spanIs(day))} at >= ${whole.from} AND at < ${whole.to}`,
  });
  if (pieces.length === 0) return [ofWhole];
  const tuples = pieces.map(({ lengthMs, from, to, point }) => [from, to, point, lengthMs]);
  const value = (index: number) => `CAST(value ->> ${index} AS BIGINT)`;
  const time = sql.unsafe(`${spanIs(value(3))} at >= ${value(0)} AND at < ${value(1)}`);
  const rows = sql.unsafe(tableOf("hours"));
  // PostgreSQL would compare each piece with each row. With OFFSET, it reads the rows of each piece by the index.
  const joined =
    kind === "postgres"
      ? sql`LATERAL (SELECT * FROM ${rows} WHERE ${time} ${conditions(sql, range)} OFFSET 0) AS inside`
      : rows;
  const ofPieces = rowsOf(database, range, summed, {
    from: sql`${jsonRows(kind, sql, tuples)} AS pieces CROSS JOIN ${joined}`,
    point: value(2),
    time,
  });
  return [ofWhole, ofPieces];
}

/**
 * Returns a query for columns of a table's rows. `expressions` has the expressions that replace columns. `time` is the
 * condition on the time.
 */
function rowsOf(
  { kind, sql }: QueriedDatabase,
  range: UsageRange,
  { names, numbers, expressions = {}, where = "1 = 1" }: Summed,
  {
    from,
    point,
    time = sql`at >= ${range.from} AND at < ${range.to}`,
  }: { from: unknown; point: string; time?: unknown },
) {
  const columns = [...names, ...numbers].map((name) => {
    const expression = name === "point" ? point : expressions[name];
    return expression === undefined ? name : `${expression} AS ${name}`;
  });
  // With this order, SQLite sorts the rows of each time separately, and not the rows of all times together.
  const isInOrder = kind === "sqlite" && names[0] === "point" && point === "at";
  const order = isInOrder ? `ORDER BY ${["at", ...names.slice(1)].join(", ")}` : "";
  const table = typeof from === "string" ? sql.unsafe(from) : from;
  return sql`SELECT ${sql.unsafe(columns.join(", "))} FROM ${table}
    WHERE ${time} ${conditions(sql, range)} AND ${sql.unsafe(`${where} ${order}`)}`;
}

/** The kind of database and the connection for which a query is written. */
export interface QueriedDatabase {
  kind: Database["kind"];
  sql: Sql;
}

/** The table whose rows are summed, the columns that group the rows, and the columns that are summed. */
export interface Summed {
  table: keyof typeof SERIES;
  /** Columns by which rows are grouped; `point` is the start of the span. `numbers` are the columns that are summed. */
  names: readonly string[];
  numbers: readonly string[];
  /** SQL expressions for `names` and `numbers` that are not columns. */
  expressions?: Readonly<Record<string, string>>;
  where?: string;
}

export function groupBy(names: readonly string[]): string {
  return names.length === 0 ? "" : `GROUP BY ${names.join(", ")}`;
}

export function sumOf(column: string): string {
  return `SUM(${column}) AS ${column}`;
}

/** A piece of a range that is read from one table. */
interface Part {
  table: (typeof TABLES)[number];
  from: number;
  to: number;
}

const TABLES = ["month", "day", "hour", "minute"] as const;

/** Returns the range if its sums over time are sums of the days of a zone, otherwise null. */
export function asZoneRange(range: UsageRange, names: readonly string[]): ZoneRange | null {
  const { days } = range;
  return days !== undefined && names.includes("point") ? { ...range, days } : null;
}

/** True when the tables of series have the names by which a range is filtered and summed. */
function hasSeries(range: UsageRange, table: Summed["table"], names: readonly string[]): boolean {
  const known = new Set<string>(["point", "is_error", ...SERIES[table].key]);
  const filtered = FILTERS.filter(([, field]) => range[field] !== undefined).map(([column]) => column);
  return [...names, ...filtered].every((name) => known.has(name));
}

/** Splits a range into parts. The middle is read from as few rows as possible, and the ends from short spans. */
function partsOf({ from, to, span }: UsageRange, isByTime: boolean): Part[] {
  const longest = span === "quarter" ? "minute" : span;
  const tables = isByTime ? TABLES.slice(TABLES.indexOf(longest)) : TABLES;
  const parts = split(from, to, tables);
  return parts.length > 0 ? parts : [{ table: "minute", from, to }];
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

/**
 * Returns the SQL expression for the start of a row's span. For months, this is the start of the month in which the
 * part begins: all rows of a part are in one month, unless the rows are sums of whole months.
 */
function pointOf(span: Span, { table, from }: Part): string {
  if (span === table) return "at";
  return span === "month" ? String(startOfSpan("month", from)) : `at - at % ${SPAN_MS[span]}`;
}

/** The columns by which rows are filtered, with the field of the range. */
const FILTERS = [
  ["organization_id", "organizations"],
  ["key_id", "keys"],
  ["model", "models"],
  ["channel", "channels"],
  ["source", "sources"],
  ["client", "clients"],
] as const;

function conditions(sql: Sql, range: UsageRange) {
  return FILTERS.reduce<unknown>(
    (all, [column, field]) => {
      const list = range[field];
      return list === undefined ? all : sql`${all} AND ${sql.unsafe(column)} IN ${sql([...list])}`;
    },
    sql``,
  );
}
