import { SQL } from "bun";
import { SQLiteError } from "bun:sqlite";

/**
 * Whether an error of the database means that it cannot be asked now (gone, frozen, full, locked, shutting down)
 * rather than that the question was wrong.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof SQL.PostgresError) {
    return error.code === SERVER_ERROR
      ? SERVER_STATES.test(String(error.errno))
      : CLIENT_CODES.test(error.code);
  }
  return FILE_CODES.test(sqliteCode(error));
}

/** Whether SQLite refused because another connection is writing. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error));
}

function sqliteCode(error: unknown): string {
  const isOfSqlite = error instanceof SQL.SQLiteError || error instanceof SQLiteError;
  return isOfSqlite ? (error.code ?? "") : "";
}

const SERVER_ERROR = "ERR_POSTGRES_SERVER_ERROR";

/**
 * SQLSTATE classes by the PostgreSQL manual, appendix A: connection, authorization, transaction conflict, no
 * resources, operator intervention (its timeouts included), and a lock that did not come free.
 */
const SERVER_STATES = /^(08|28|40|53|57|58)|^55P03$/;

const CLIENT_CODES = /^ERR_POSTGRES_(CONNECTION_|IDLE_TIMEOUT|LIFETIME_TIMEOUT|QUERY_CANCELLED|TLS_)/;

const FILE_CODES = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|CORRUPT)|^ERR_SQLITE_CONNECTION/;
