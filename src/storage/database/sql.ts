import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { SQL } from "bun";
import { DependencyError } from "../../gateway/ports.ts";
import { syncLog } from "./wal-checkpoints.ts";
import { groupsOf, insertStatement } from "./insert-statement.ts";
import { openRowInserter, type RowInserter } from "./row-inserter.ts";
import { isLocked, isUnavailable } from "./unavailable.ts";

/**
 * The one way to the database: SQLite by default, PostgreSQL by URL. Every call ends within its deadline, and
 * every failure that means "it cannot be asked now" is a `DependencyError`; others pass untouched.
 */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** Runs a query outside of a transaction; it sees committed rows only. */
  read<T>(query: (sql: Sql) => PromiseLike<T>, timeoutMs?: number): Promise<T>;
  /** Runs `work` in one transaction. Once its deadline has passed it is rolled back, even if it ends later. */
  begin<T>(work: (sql: Sql) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * Inserts rows of one shape and passes over those that are there; answers how many were new. Not in one
   * transaction: when it throws, some may have been inserted.
   */
  insertRows(table: string, rows: readonly object[]): Promise<number>;
  /** Returns once everything committed so far outlives a loss of power. */
  persist(): Promise<void>;
  close(): Promise<void>;
}

/** The client inside a transaction, or outside of one. */
export type Sql = SQL;

export interface DatabaseOptions {
  /** Longest a caller waits for an answer. Milliseconds, 5,000 unless told. */
  timeoutMs?: number;
}

/** Opens a `postgres://` address or a SQLite file, creating the file and its folder when absent. */
export async function openDatabase(location: string, options: DatabaseOptions = {}): Promise<Database> {
  const timeoutMs = options.timeoutMs ?? 5000;
  return /^postgres(ql)?:\/\//.test(location)
    ? openPostgres(location, timeoutMs)
    : await openSqlite(location, timeoutMs);
}

const CONNECT_TIMEOUT_SECONDS = 1;
const CLOSE_TIMEOUT_SECONDS = 1;

function openPostgres(location: string, timeoutMs: number): Database {
  const database = decodeURIComponent(new URL(location).pathname.slice(1));
  const sql = new SQL(location, {
    adapter: "postgres",
    bigint: true,
    connectionTimeout: CONNECT_TIMEOUT_SECONDS,
    // Named here because a PGDATABASE in the environment would win over the one in the address.
    ...(database === "" ? {} : { database }),
    connection: {
      application_name: "model-inference-gateway",
      synchronous_commit: "on",
      statement_timeout: String(timeoutMs),
      lock_timeout: String(timeoutMs),
      idle_in_transaction_session_timeout: String(timeoutMs * 2),
    },
  });
  const calls = boundCalls(timeoutMs);
  return {
    kind: "postgres",
    read: (query, timeoutMs) => calls(async () => await query(sql), timeoutMs),
    begin: (work, timeoutMs) => calls((call) => transact(sql, "READ WRITE", work, call), timeoutMs),
    insertRows: (table, rows) =>
      calls(async () => {
        let count = 0;
        for (const group of groupsOf(rows)) count += await insertGroup(sql, table, group);
        return count;
      }),
    // Every commit has waited for the server's disk.
    persist: () => Promise.resolve(),
    close: () => sql.close({ timeout: CLOSE_TIMEOUT_SECONDS }),
  };
}

async function insertGroup(sql: Sql, table: string, rows: readonly object[]): Promise<number> {
  const [text, values] = insertStatement("postgres", table, rows);
  return Number((await sql.unsafe(text, values)).count);
}

/**
 * Three connections: a plain query on the writing one would run inside whatever transaction is open there and see
 * rows that may yet be rolled back, and so would rows be that are inserted on their own. SQLite knows one writer at
 * a time, so the two take turns here rather than run into each other's locks.
 */
async function openSqlite(location: string, timeoutMs: number): Promise<Database> {
  mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
  const open = () => new SQL({ adapter: "sqlite", filename: location, safeIntegers: true });
  const writer = open();
  const reader = open();
  const calls = boundCalls(timeoutMs);
  await calls(async (call) => {
    for (const sql of [writer, reader]) {
      await sql.unsafe(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      await retryWhileLocked(() => sql.unsafe("PRAGMA journal_mode = WAL"), call);
      for (const setting of SETTINGS) await sql.unsafe(setting);
    }
  });
  const inserter = openRowInserter(location, SETTINGS);
  const inTurn = turns();
  return {
    kind: "sqlite",
    read: (query, timeoutMs) => calls(async () => await query(reader), timeoutMs),
    begin: (work, timeoutMs) =>
      calls(
        (call) => inTurn(() => retryWhileLocked(() => transact(writer, "IMMEDIATE", work, call), call)),
        timeoutMs,
      ),
    insertRows: (table, rows) =>
      calls(async (call) => {
        let count = 0;
        for (let start = 0; start < rows.length; start += ROWS_A_TRANSACTION) {
          const group = rows.slice(start, start + ROWS_A_TRANSACTION);
          count += await inTurn(() => insertGently(inserter, table, group, call));
        }
        return count;
      }),
    persist: () => calls(() => syncLog(location)),
    close: async () => {
      inserter.close();
      await Promise.all([writer.close(), reader.close()]);
    },
  };
}

/** A commit is not to wait for the disk: another thread makes checkpoints, unless it falls far behind. */
const SETTINGS = ["PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 16000"];

/** Runs one piece of work after the other. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
}

/** SQLite works on this very thread, so requests get their turn between a few rows and the next. */
async function insertGently(
  inserter: RowInserter,
  table: string,
  rows: readonly object[],
  call: Call,
): Promise<number> {
  await retryWhileLocked(async () => inserter.begin(), call);
  try {
    let count = 0;
    for (let start = 0; start < rows.length; start += ROWS_A_TURN) {
      throwIfAbandoned(call);
      count += inserter.insert(table, rows.slice(start, start + ROWS_A_TURN));
      await setImmediate();
    }
    inserter.commit();
    return count;
  } catch (error) {
    inserter.rollback();
    throw error;
  }
}

/** About a tenth of a millisecond's work. */
const ROWS_A_TURN = 16;
/** With fewer the same pages are written more often; with more others wait long for their turn to write. */
const ROWS_A_TRANSACTION = 128;

/** SQLite waits for a lock with the whole process standing still, so each such wait is short and then repeated. */
const BUSY_TIMEOUT_MS = 2;
const BUSY_PAUSE_MS = 2;

interface Call {
  isAbandoned: boolean;
}

/** Calls that may wait for the database at once; more are refused, so that an outage fills no memory. */
const MAX_CALLS = 2000;

/** Gives every call a deadline and the right error, and bounds how many are under way. */
function boundCalls(defaultTimeoutMs: number) {
  let underWay = 0;
  return async <T>(run: (call: Call) => Promise<T>, timeoutMs = defaultTimeoutMs): Promise<T> => {
    if (underWay >= MAX_CALLS) throw new DependencyError("too many calls wait for the database");
    underWay += 1;
    const call: Call = { isAbandoned: false };
    const response = run(call).finally(() => (underWay -= 1));
    const { promise: deadline, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      call.isAbandoned = true;
      reject(new DependencyError("the database did not answer in time"));
    }, timeoutMs);
    try {
      return await Promise.race([response, deadline]);
    } catch (error) {
      throw isUnavailable(error)
        ? new DependencyError("the database cannot be asked", { cause: error })
        : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

async function transact<T>(sql: Sql, mode: string, work: (sql: Sql) => Promise<T>, call: Call): Promise<T> {
  const response = await sql.begin(mode, async (transaction) => {
    throwIfAbandoned(call);
    const value = await work(transaction);
    throwIfAbandoned(call);
    return { value };
  });
  return response.value;
}

/** An immediate transaction meets a foreign lock only at its beginning, so repeating it repeats no work. */
async function retryWhileLocked<T>(attempt: () => Promise<T>, call: Call): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error)) throw error;
      throwIfAbandoned(call);
      await Bun.sleep(BUSY_PAUSE_MS);
    }
  }
}

function throwIfAbandoned(call: Call): void {
  if (call.isAbandoned) throw new DependencyError("the database did not answer in time");
}
