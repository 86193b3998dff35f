import { SQL } from "bun";
import { SQLiteError } from "bun:sqlite";

/**
 * True when an error means that the database is unavailable now, such as gone, full, locked, damaged or shutting down.
 * False when the query was wrong.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof SQL.PostgresError) {
    return error.code === SERVER_ERROR
      ? SERVER_STATES.test(String(error.errno))
      : CLIENT_CODES.test(error.code);
  }
  return FILE_CODES.test(sqliteCode(error));
}

/** True when the connection itself has failed, so that the next call cannot use it. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof SQL.PostgresError && CLIENT_CODES.test(error.code);
}

/**
 * True when the query would fail again, because its data are invalid or violate a constraint. Any other error may be
 * caused by a temporary state of the database.
 */
export function isRefusal(error: unknown): boolean {
  // The client throws these errors for values that no column accepts.
  if (error instanceof RangeError || error instanceof TypeError) return true;
  if (error instanceof SQL.PostgresError)
    return error.code === SERVER_ERROR && DATA_STATES.test(String(error.errno));
  return /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(sqliteCode(error));
}

/** True when SQLite refused because another connection has a lock. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error));
}

/** Returns SQLite's code of an error that indicates damage of the database; null for any other error. */
export function damageOf(error: unknown): string | null {
  const code = sqliteCode(error);
  return /^SQLITE_(NOTADB|CORRUPT|IOERR)/.test(code) ? code : null;
}

/** True when the content of a SQLite file is wrong. Only a backup helps then; waiting does not. */
export function isDamaged(error: unknown): boolean {
  return /^SQLITE_(NOTADB|CORRUPT)/.test(sqliteCode(error));
}

function sqliteCode(error: unknown): string {
  return error instanceof SQLiteError ? (error.code ?? "") : "";
}

const SERVER_ERROR = "ERR_POSTGRES_SERVER_ERROR";

/**
 * SQLSTATE classes of an unavailable server (PostgreSQL manual, appendix A): connection, authorization, unknown
 * database, transaction conflict, no resources, operator intervention including timeouts, system errors, a lock that
 * was not granted, and a read-only server (with 0A000, a standby refuses a writing transaction).
 */
const SERVER_STATES = /^(08|28|3D|40|53|57|58)|^(55P03|25006|0A000)$/;

/** SQLSTATE classes of data exceptions and violated constraints. */
const DATA_STATES = /^(22|23)/;

const CLIENT_CODES = /^ERR_POSTGRES_(CONNECTION_|IDLE_TIMEOUT|LIFETIME_TIMEOUT|QUERY_CANCELLED|TLS_)/;

const FILE_CODES = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|CORRUPT|NOTADB)/;
