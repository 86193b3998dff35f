import type { UsageRange } from "../../admin/usage/store-port.ts";
import { nextSpan, type Span, SPAN_MS, startOfSpan } from "../../domain/calendar.ts";
import type { Database, Sql } from "../database/sql.ts";

/**
 * Returns the sums of each part of a range, one part after the other, as a table for a query that adds them up. Whole
 * months, days and hours are read from tables with such sums; only the ends of the range are read from tables of
 * shorter spans.
 */
export function sumsOfParts(
  { kind, sql }: QueriedDatabase,
  range: UsageRange,
  { table, names, numbers, expressions = {}, where = "1 = 1" }: Summed,
) {
  const [first, ...others] = partsOf(range, names.includes("point"));
  const select = (part: Part) => {
    const point = pointOf(range.span, part);
    const columns = [...names, ...numbers].map((name) => {
      const expression = name === "point" ? point : expressions[name];
      return expression === undefined ? name : `${expression} AS ${name}`;
    });
    // With this order, SQLite sorts the rows of each time separately. Otherwise it would sort the rows of all times to
    // group them.
    const isInOrder = kind === "sqlite" && names[0] === "point" && point === "at";
    const order = isInOrder ? `ORDER BY ${["at", ...names.slice(1)].join(", ")}` : "";
    return sql`SELECT ${sql.unsafe([...names, ...numbers.map(sumOf)].join(", "))}
      FROM (SELECT ${sql.unsafe(`${columns.join(", ")} FROM ${table}_${part.table}s`)}
        WHERE ${conditions(sql, { ...range, ...part })} AND ${sql.unsafe(`${where} ${order}`)}) AS rows
      ${sql.unsafe(groupBy(names))}`;
  };
  return others.reduce((all, part) => sql`${all} UNION ALL ${select(part)}`, select(first));
}

/** The kind of database and the connection for which a query is written. */
export interface QueriedDatabase {
  kind: Database["kind"];
  sql: Sql;
}

/** The table whose rows are summed, the columns that group the rows, and the columns that are summed. */
interface Summed {
  table: "usage" | "traffic";
  /** Columns by which rows are grouped; `point` is the start of the span. `numbers` are the columns that are summed. */
  names: readonly string[];
  numbers: readonly string[];
  /** SQL expressions for those `names` and `numbers` that are not columns. */
  expressions?: Readonly<Record<string, string>>;
  /** Condition on the rows. */
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

/**
 * Splits a range into parts. Its middle is read from as few rows as possible, and only its ends from rows of short
 * spans.
 */
function partsOf({ from, to, span }: UsageRange, isByTime: boolean): [Part, ...Part[]] {
  const longest = span === "quarter" ? "minute" : span;
  const tables = isByTime ? TABLES.slice(TABLES.indexOf(longest)) : TABLES;
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

/**
 * Returns the SQL expression for the start of a row's span. For months, that is the month of the part's start: all rows
 * of a part are in one month, unless they are sums of whole months.
 */
function pointOf(span: Span, { table, from }: Part): string {
  if (span === table) return "at";
  return span === "month" ? String(startOfSpan("month", from)) : `at - at % ${SPAN_MS[span]}`;
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
