import type { Database, Sql } from "./sql.ts";

/** The database's own clock as an SQL expression, Unix milliseconds: the one clock that all processes share. */
export function storeTime(kind: Database["kind"], sql: Sql) {
  return kind === "postgres"
    ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
    : sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`;
}

/** SQLite locks the whole database at the beginning of a writing transaction and has no words for rows. */
export function forUpdate(kind: Database["kind"], sql: Sql) {
  return kind === "postgres" ? sql`FOR UPDATE` : sql``;
}

/** The same, but rows that somebody else has locked are skipped. */
export function skipLocked(kind: Database["kind"], sql: Sql) {
  return kind === "postgres" ? sql`FOR UPDATE SKIP LOCKED` : sql``;
}

/** The list with its last item repeated up to a power of two, so that few different statements are prepared. */
export function padded(items: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(items.length));
  const last = items.at(-1) ?? "";
  return [...items, ...Array.from({ length: length - items.length }, () => last)];
}

/**
 * A table made of one parameter, for statements over sets of any size: each row is a tuple in the column `value`, read
 * with `value ->> 0` (text) and so on. Whole numbers pass as text, so CAST them.
 */
export function jsonRows(kind: Database["kind"], sql: Sql, tuples: readonly (readonly unknown[])[]) {
  // `JSON.stringify` with a replacer for amounts of money would be three times as slow.
  const text = JSON.stringify(tuples.map((tuple) => tuple.map(toJson)));
  // Not JSON, which each `->>` would parse again. The inner cast keeps the PostgreSQL client from encoding the text as
  // JSON once more.
  return kind === "postgres"
    ? sql`jsonb_array_elements(CAST(CAST(${text} AS TEXT) AS JSONB))`
    : sql`json_each(${text})`;
}

function toJson(value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/**
 * Writes a composite value for a TEXT column: JSON in which amounts of money are decimal strings. What is read back was
 * written here, so its shape is trusted.
 */
export function toColumn(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
}

/** A nullable composite. */
export function toNullableColumn(value: unknown): string | null {
  return value === null || value === undefined ? null : toColumn(value);
}

/** Booleans are 0 and 1 in both databases. */
export function toBit(value: boolean): number {
  return value ? 1 : 0;
}

/** A whole number that is not money, as read from either database. */
export type Integer = bigint | number;

/** `change` without its undefined fields. */
export function definedFields<T extends object>(change: T): Partial<T> {
  const copy: Partial<T> = { ...change };
  for (const name in copy) if (copy[name] === undefined) delete copy[name];
  return copy;
}

/** The first row of a result, or null. */
export function firstOf<T>(rows: readonly T[]): T | null {
  return rows[0] ?? null;
}
