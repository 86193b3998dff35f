import type { Database, Sql } from "./sql.ts";

/** Returns the database's own time in Unix milliseconds, as SQL. This is the only clock that all processes share. */
export function storeTime(kind: Database["kind"], sql: Sql) {
  return kind === "postgres"
    ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
    : sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`;
}

/** Returns the clause that locks rows. It is empty on SQLite, where a writing transaction locks the database. */
export function forUpdate(kind: Database["kind"], sql: Sql) {
  return kind === "postgres" ? sql`FOR UPDATE` : sql``;
}

/** Returns the clause that locks rows and skips rows that another transaction has locked. */
export function skipLocked(kind: Database["kind"], sql: Sql) {
  return kind === "postgres" ? sql`FOR UPDATE SKIP LOCKED` : sql``;
}

/** Returns the list, padded with its last item to a power of two, so that few different statements are prepared. */
export function padded(items: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(items.length));
  const last = items.at(-1) ?? "";
  return [...items, ...Array.from({ length: length - items.length }, () => last)];
}

/**
 * Returns a table made from one parameter, for statements on sets of any size. Each row is a tuple in the column
 * `value`; read its parts by `value ->> 0` and so on. CAST the numbers, because they may be read as text.
 */
export function jsonRows(kind: Database["kind"], sql: Sql, tuples: readonly (readonly unknown[])[]) {
  // Amounts of money are converted first, because a replacer would make `JSON.stringify` three times as slow.
  const text = JSON.stringify(tuples.map((tuple) => tuple.map(toJson)));
  // JSONB is parsed once, but JSON would be parsed again by each `->>`. The inner cast keeps the PostgreSQL client from
  // encoding the text as JSON once more.
  return kind === "postgres"
    ? sql`jsonb_array_elements(CAST(CAST(${text} AS TEXT) AS JSONB))`
    : sql`json_each(${text})`;
}

function toJson(value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/**
 * Returns the text of a composite value for a TEXT column: JSON in which amounts of money are decimal strings. Only
 * this program writes these columns, so readers trust the shape.
 */
export function toColumn(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
}

/** Returns the text of a composite value as `toColumn` does, and null for null or undefined. */
export function toNullableColumn(value: unknown): string | null {
  return value === null || value === undefined ? null : toColumn(value);
}

/** Returns a boolean as both databases store it: 0 or 1. */
export function toBit(value: boolean): number {
  return value ? 1 : 0;
}

/** A whole number that is not money, as either database returns it. */
export type Integer = bigint | number;

export function definedFields<T extends object>(change: T): Partial<T> {
  const copy: Partial<T> = { ...change };
  for (const name in copy) if (copy[name] === undefined) delete copy[name];
  return copy;
}

export function firstOf<T>(rows: readonly T[]): T | null {
  return rows[0] ?? null;
}
