import { Database, type SQLQueryBindings } from "bun:sqlite";

/**
 * Inserts rows into SQLite by a statement that stays prepared, on a connection of its own: a third of what a
 * statement with many rows costs. It waits for no lock; a caller tries again.
 */
export interface RowInserter {
  /** Begins a transaction, which takes the lock of writers at once. */
  begin(): void;
  /** Inserts rows of one shape and passes over those that are there; answers how many were new. */
  insert(table: string, rows: readonly object[]): number;
  commit(): void;
  rollback(): void;
  close(): void;
}

/** Opens a connection to a database that has its tables already. */
export function openRowInserter(location: string, settings: readonly string[]): RowInserter {
  const database = new Database(location, { readwrite: true, safeIntegers: true });
  for (const setting of settings) database.run(setting);
  // Whoever holds a lock may be this very thread, which could not let go of it while it waits.
  database.run("PRAGMA busy_timeout = 0");
  return {
    begin: () => void database.run("BEGIN IMMEDIATE"),
    insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {});
      const parameters = columns.map(() => "?").join(",");
      const statement = database.query<unknown, SQLQueryBindings[]>(
        `INSERT INTO ${table} (${columns.join(",")}) VALUES (${parameters}) ON CONFLICT DO NOTHING`,
      );
      let count = 0;
      for (const row of rows) count += statement.run(...Object.values(row)).changes;
      return count;
    },
    commit: () => void database.run("COMMIT"),
    rollback: () => void (database.inTransaction && database.run("ROLLBACK")),
    close: () => database.close(),
  };
}
