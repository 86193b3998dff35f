import { openPostgres } from "./postgres.ts";
import type { Database } from "./sql.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseOptions {
  /** Longest a caller waits for a result. Milliseconds; 5,000 by default. */
  timeoutMs?: number;
  /** Most connections to PostgreSQL; 10 by default. */
  poolSize?: number;
  /** Called when a statement on a SQLite file fails in a way that tells of damage. */
  onDamage?: (reason: string) => void;
}

/** Opens a `postgres://` address or a SQLite file, creating the file and its folder when absent. */
export async function openDatabase(
  location: string,
  { timeoutMs = 5000, poolSize = 10, onDamage }: DatabaseOptions = {},
): Promise<Database> {
  return /^postgres(ql)?:\/\//.test(location)
    ? openPostgres(location, timeoutMs, poolSize)
    : await openSqlite(location, timeoutMs, onDamage);
}
