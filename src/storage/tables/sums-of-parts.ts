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
  const all = others.reduce<unknown>((some, rows) => sql`${some} UNION ALL ${select(rows)}`, select(first));
  const owners = ownersOf(range, summed);
  return owners === null ? all : sql`WITH owners AS (${ownersIn(sql, range, owners)}) ${all}`;
}

function rowsOfParts(database: QueriedDatabase, range: UsageRange, summed: Summed): unknown[] {
  const { table, names } = summed;
  const zoned = asZoneRange(range, names);
  if (zoned) return rowsOfZone(database, zoned, summed);
  const series = seriesTable(range, summed);
  return partsOf(range, names.includes("point")).map((part) => {
    const point = pointOf(range.span, part);
    const own = { ...range, ...part };
    const from = `${table}_${part.table}s`;
    if (ownersOf(range, summed) === "keys" && part.table !== "minute")
      return rowsOfKeys(database, own, summed, { from, point, times: startsIn(part) });
    if (series === null || (part.table !== "day" && part.table !== "hour"))
      return rowsOf(database, own, summed, { from, point });
    return rowsOfSeries(database, own, summed, { table: series, spanMs: SPAN_MS[part.table], point });
  });
}

/** Returns the query for the rows of a range in a table of series. `spanMs` is the time span that each row covers. */
function rowsOfSeries(
  database: QueriedDatabase,
  range: UsageRange,
  summed: Summed,
  { table, spanMs, point }: { table: string; spanMs: number; point: string },
) {
  const { sql } = database;
  const time = sql`${sql.unsafe(seriesOf(range, summed, spanMs))} at >= ${range.from} AND at < ${range.to}`;
  const isOfOwners = ownersOf(range, summed) !== null;
  const from = isOfOwners ? sql`owners CROSS JOIN ${rowsInside(database, range, table, time)}` : table;
  return rowsOf(database, range, summed, { from, point, time });
}

/**
 * Returns the condition on the rows of a table of series. It selects the time span that a row covers, and either the
 * sums of all organizations together or the sums of single organizations.
 */
function seriesOf(range: UsageRange, summed: Summed, spanMs: string | number): string {
  const isOfAll = range.organizations === undefined && !summed.names.includes("organization_id");
  const organization = isOfAll ? `= '${ALL_ORGANIZATIONS}'` : `<> '${ALL_ORGANIZATIONS}'`;
  const owner = ownersOf(range, summed) === null ? organization : "= owner";
  return `span_ms = ${spanMs} AND organization_id ${owner} AND`;
}

/**
 * Returns the kind of owners if the rows are read with the index, separately for each owner: each key of the range, or
 * each organization. Returns null if the rows are read by their time.
 */
function ownersOf(range: UsageRange, summed: Summed): "keys" | "organizations" | null {
  if (summed.table !== "usage") return null;
  if (range.keys !== undefined) return "keys";
  const isOfEach = range.organizations === undefined && summed.names.includes("organization_id");
  return isOfEach && seriesTable(range, summed) !== null ? "organizations" : null;
}

/** Returns the query for the owners with entries in a range. The sums by month have the fewest rows. */
function ownersIn(sql: Sql, range: UsageRange, owners: "keys" | "organizations") {
  const columns = `organization_id AS owner${owners === "keys" ? ", key_id AS owned" : ""}`;
  return sql`SELECT DISTINCT ${sql.unsafe(columns)} FROM usage_months
    WHERE at >= ${startOfSpan("month", range.from)} AND at < ${range.to} ${conditions(sql, range)}`;
}

/**
 * Returns the query for the rows of a range's keys. It finds them by the first columns of the primary key: the start of
 * the span, the organization and the key. `times` has these starts, each with the numbers to which `point` refers.
 */
function rowsOfKeys(
  database: QueriedDatabase,
  range: UsageRange,
  summed: Summed,
  { from, point, times }: { from: string; point: string; times: readonly (readonly number[])[] },
) {
  const { kind, sql } = database;
  const { keys: _, ...others } = range;
  const time = sql.unsafe(`at = ${numberIn(0)} AND organization_id = owner AND key_id = owned`);
  return rowsOf(database, others, summed, {
    from: sql`${jsonRows(kind, sql, times)} AS times CROSS JOIN owners CROSS JOIN
      ${rowsInside(database, others, from, time)}`,
    point,
    time,
  });
}

/**
 * Returns a table as the last table of a join. `condition` compares its rows with the tables before it. PostgreSQL
 * would compare all rows with each other. With OFFSET, it reads the rows by the index.
 */
function rowsInside({ kind, sql }: QueriedDatabase, range: UsageRange, table: string, condition: unknown) {
  const rows = sql.unsafe(table);
  return kind === "postgres"
    ? sql`LATERAL (SELECT * FROM ${rows} WHERE ${condition} ${conditions(sql, range)} OFFSET 0) AS inside`
    : rows;
}

/** Returns the SQL expression for a number in a tuple of `jsonRows`. */
function numberIn(index: number): string {
  return `CAST(value ->> ${index} AS BIGINT)`;
}

/** Returns the starts of the spans in a part, each in a tuple with the numbers that are `added`. */
function startsIn({ table, from, to }: Part, ...added: number[]): number[][] {
  const starts: number[][] = [];
  for (let at = from; at < to; at = nextSpan(table, at)) starts.push([at, ...added]);
  return starts;
}

function rowsOfZone(database: QueriedDatabase, range: ZoneRange, summed: Summed): unknown[] {
  const { kind, sql } = database;
  const { table } = summed;
  const series = seriesTable(range, summed);
  const [day, ...shorter] = SERIES_SPANS_MS;
  const { whole, pieces } = zoneParts(range, series === null ? [SPAN_MS.hour] : shorter);
  const owners = ownersOf(range, summed);
  if (owners === "keys") {
    const ofDays = startsIn({ table: "day", ...whole });
    const ofHours = pieces.flatMap(({ from, to, point }) => startsIn({ table: "hour", from, to }, point));
    return [
      rowsOfKeys(database, range, summed, { from: "usage_days", point: "at", times: ofDays }),
      rowsOfKeys(database, range, summed, { from: "usage_hours", point: numberIn(1), times: ofHours }),
    ];
  }
  const wholeRange = { ...range, ...whole };
  const ofWhole =
    series === null
      ? rowsOf(database, wholeRange, summed, { from: `${table}_days`, point: "at" })
      : rowsOfSeries(database, wholeRange, summed, { table: series, spanMs: day, point: "at" });
  if (pieces.length === 0) return [ofWhole];
  const tuples = pieces.map(({ lengthMs, from, to, point }) => [from, to, point, lengthMs]);
  const spanIs = series === null ? "" : seriesOf(range, summed, numberIn(3));
  const time = sql.unsafe(`${spanIs} at >= ${numberIn(0)} AND at < ${numberIn(1)}`);
  const rows = rowsInside(database, range, series ?? `${table}_hours`, time);
  const join = sql.unsafe(owners === null ? "CROSS JOIN" : "CROSS JOIN owners CROSS JOIN");
  const ofPieces = rowsOf(database, range, summed, {
    from: sql`${jsonRows(kind, sql, tuples)} AS pieces ${join} ${rows}`,
    point: numberIn(2),
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

/** Returns the table of series that has all columns by which a range is filtered and summed; null if there is none. */
function seriesTable(range: UsageRange, { table, names }: Summed): string | null {
  const filtered = FILTERS.filter(([, field]) => range[field] !== undefined).map(([column]) => column);
  const needed = [...names, ...filtered].filter((name) => name !== "point" && name !== "is_error");
  const hasAll = ({ key }: { key: readonly string[] }) => needed.every((name) => key.includes(name));
  return SERIES[table].find(hasAll)?.table ?? null;
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
