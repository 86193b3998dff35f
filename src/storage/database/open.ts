import { openPostgres } from "./postgres.ts";
import type { Database } from "./sql.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseOptions {
  /** Maximum time that a caller waits for a result, in milliseconds; 5,000 by default. */
  timeoutMs?: number;
  /** Maximum number of connections to PostgreSQL; 10 by default. */
  poolSize?: number;
  /** Called when a statement on a SQLite file fails in a way that indicates damage. */
  onDamage?: (reason: string) => void;
  /**
   * True for a SQLite file that this process has open already. If the file is missing, opening throws a
   * `DependencyError`: a new empty file would receive the rows that belong in the lost file.
   */
  mustExist?: boolean;
  /**
   * Called after each read, transaction, insert and persist, even a failed one, with its name and duration in seconds.
   */
  onCall?: ObserveCall;
}

type ObserveCall = (operation: string, seconds: number) => void;

/**
 * Opens a `postgres://` address or a SQLite file. Creates a missing file and its folder, unless the file must exist.
 */
export async function openDatabase(
  location: string,
  { timeoutMs = 5000, poolSize = 10, onDamage, mustExist = false, onCall }: DatabaseOptions = {},
): Promise<Database> {
  const database = /^postgres(ql)?:\/\//.test(location)
    ? openPostgres(location, timeoutMs, poolSize)
    : await openSqlite(location, { timeoutMs, mustExist, onDamage });
  return onCall ? timed(database, onCall) : database;
}

function timed(database: Database, observe: ObserveCall): Database {
  const time = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    try {
      return await run();
    } finally {
      observe(operation, (performance.now() - startedAt) / 1000);
    }
  };
  return {
    ...database,
    read: (query, timeoutMs) => time("read", () => database.read(query, timeoutMs)),
    begin: (work, timeoutMs) => time("transaction", () => database.begin(work, timeoutMs)),
    insertRows: (table, rows, addition) => time("insert", () => database.insertRows(table, rows, addition)),
    persist: () => time("persist", () => database.persist()),
  };
}
