import { additionStatement, groupsOf } from "./insert-statement.ts";
import type { Database, Sql, Sums } from "./sql.ts";

/** Adds sums to what is stored, in few statements and in the order of their keys. */
export async function addSums(kind: Database["kind"], sql: Sql, all: readonly Sums[]): Promise<void> {
  for (const sums of all)
    for (const group of groupsOf(sums.rows)) {
      const [text, values] = additionStatement(kind, sums, group);
      await sql.unsafe(text, values);
    }
}
