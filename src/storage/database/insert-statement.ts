import type { Database, Sql, Sums } from "./sql.ts";

/** Returns the text and the values of one statement that inserts many rows and skips existing rows. */
export function insertStatement(
  kind: "sqlite" | "postgres",
  table: string,
  rows: readonly object[],
): [string, unknown[]] {
  const columns = Object.keys(rows[0] ?? {});
  let parameter = 0;
  const tuple = (): string =>
    `(${columns.map(() => (kind === "sqlite" ? "?" : `$${++parameter}`)).join(",")})`;
  const tuples = rows.map(tuple).join(",");
  const text = `INSERT INTO ${table} (${columns.join(",")}) VALUES ${tuples} ON CONFLICT DO NOTHING`;
  return [text, rows.flatMap((row) => Object.values(row))];
}

/**
 * Returns one statement that inserts rows. For a key that is stored already, it adds the other columns to the stored
 * row.
 */
export function additionStatement(
  kind: "sqlite" | "postgres",
  { table, key }: { table: string; key: readonly string[] },
  rows: readonly object[],
): [string, unknown[]] {
  const [insert, values] = insertStatement(kind, table, rows);
  const numbers = Object.keys(rows[0] ?? {}).filter((column) => !key.includes(column));
  const added = numbers.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  const text = insert.replace(/NOTHING$/, `UPDATE SET ${added.join(",")}`);
  return [text.replace("ON CONFLICT", `ON CONFLICT (${key.join(",")})`), values];
}

/** Maximum number of rows in a statement. Larger statements cost the same for each row. */
const MAX_ROWS = 32;

/** Splits items into groups whose sizes are powers of two, so that few different statements are prepared. */
export function groupsOf<T>(items: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (let start = 0; start < items.length;) {
    const rest = items.length - start;
    const size = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(rest)));
    groups.push(items.slice(start, start + size));
    start += size;
  }
  return groups;
}

/** Adds sums to the stored sums, in few statements and in the order of their keys. */
export async function addSums(kind: Database["kind"], sql: Sql, all: readonly Sums[]): Promise<void> {
  for (const sums of all)
    for (const group of groupsOf(sums.rows)) {
      const [text, values] = additionStatement(kind, sums, group);
      await sql.unsafe(text, values);
    }
}
