import { basename, dirname } from "node:path";
import { Database as Connection, type SQLQueryBindings } from "bun:sqlite";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { PROGRAM_NAME } from "../../lib/program-files.ts";
import { sleep } from "../../lib/waiting.ts";
import { createPrivateFile, createPrivateFolder } from "../private-files.ts";
import { additionStatement, insertStatement } from "./insert-statement.ts";
import { SEQUENCE_STATEMENTS, sequenceOf } from "./ledger-sequence.ts";
import { openedFiles } from "./opened-files.ts";
import { boundCalls, failureOf, REPORT_TIMEOUT_MS, type Addition, type Database, type Sums } from "./sql.ts";
import { openSqliteClient } from "./sqlite-client.ts";
import { damageOf, isDamaged, isLocked } from "./unavailable.ts";
import { WalFile } from "./wal-file.ts";

/**
 * Opens a SQLite file with three connections: one for transactions, one for queries and one for inserted rows. A query
 * on the connection for transactions would run inside of an open transaction and read rows that may be rolled back.
 * Inserted rows need their own connection for the same reason. SQLite allows one writer at a time, so the two writing
 * connections take turns here instead of failing on locks.
 */
export async function openSqlite(
  location: string,
  { timeoutMs, mustExist, onDamage = () => {} }: SqliteOptions,
): Promise<Database> {
  const failure = (error: unknown) => failureOn(location, error, onDamage);
  const calls = boundCalls(timeoutMs, failure);
  const open = () => openSqliteClient(location);
  const opened = calls((signal) => {
    if (!mustExist) createFile(location);
    return openConnections(location, signal);
  });
  const { writer, reader, inserter } = await opened.catch((error: unknown) => fail(error, location));
  const log = new WalFile(location);
  const { verifyFiles, verified } = fileGuard(location);
  const inTurn = turns(verified);
  return {
    kind: "sqlite",
    async read(query) {
      // There is no deadline. A query blocks the event loop, so a timer could not fire before the query ends. Setting
      // the timer would also cost as much as the query.
      try {
        return await query(reader.sql);
      } catch (error) {
        throw failure(error);
      }
    },
    readConsistently: (work) =>
      calls(async (signal) => {
        const client = open();
        try {
          return await client.transact("DEFERRED", work, signal);
        } finally {
          client.close();
        }
      }, REPORT_TIMEOUT_MS),
    begin: (work, timeoutMs) =>
      calls(
        (signal) => inTurn(() => retryWhileLocked(() => writer.transact("IMMEDIATE", work, signal), signal)),
        timeoutMs,
      ),
    insertRows: (table, rows, addition) =>
      calls(async (signal) => {
        let count = 0;
        for (let start = 0; start < rows.length; start += ROWS_A_TRANSACTION) {
          const group = rows.slice(start, start + ROWS_A_TRANSACTION);
          count += await inTurn(() => insertGroup(inserter, { table, rows: group, addition }, signal));
        }
        return count;
      }),
    persist: () => calls(() => verified(() => log.sync())),
    verifyFiles,
    notify: () => {},
    listen: async () => null,
    close: async () => {
      await log.close();
      for (const connection of [inserter, writer, reader]) connection.close();
    },
  };
}

interface SqliteOptions {
  timeoutMs: number;
  mustExist: boolean;
  onDamage: ((reason: string) => void) | undefined;
}

function createFile(location: string): void {
  createPrivateFolder(dirname(location), { isOwn: false });
  // The database file is created first, because SQLite gives its WAL and shared memory the mode of that file.
  createPrivateFile(location);
}

async function openConnections(location: string, signal: AbortSignal) {
  const writer = openSqliteClient(location);
  const reader = openSqliteClient(location);
  for (const { sql } of [writer, reader]) {
    await sql.unsafe(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    await retryWhileLocked(() => sql.unsafe("PRAGMA journal_mode = WAL"), signal);
    for (const setting of SETTINGS) await sql.unsafe(setting);
  }
  return { writer, reader, inserter: openRowInserter(location, SETTINGS) };
}

/** Prevents writes to files that nobody will read again; see `Database.verifyFiles`. */
function fileGuard(location: string) {
  const files = openedFiles(location);
  const verifyFiles = () => {
    const replaced = files.replaced();
    if (replaced !== null)
      throw new DependencyError(`the database was lost: ${replaced}`, { advice: RESTORE });
  };
  /** Checks the files before and after the work: a file that is replaced during a write may lack the written rows. */
  const verified: Around = async (work) => {
    verifyFiles();
    const result = await work();
    verifyFiles();
    return result;
  };
  return { verifyFiles, verified };
}

/** Translates an error of SQLite into the error that a call throws. Reports damage. */
function failureOn(location: string, error: unknown, onDamage: (reason: string) => void): unknown {
  const damage = damageOf(error);
  if (damage !== null) onDamage(`a statement on ${basename(location)} failed with ${damage}`);
  return isDamaged(error)
    ? new DependencyError(`the database ${location} is damaged`, { cause: error, advice: RESTORE })
    : failureOf(error);
}

/** Throws an error that names the file and the remedy when a remedy is known. Otherwise throws the error unchanged. */
function fail(error: unknown, location: string): never {
  const cause = error instanceof DependencyError ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const advice = ADVICE.find(([codes]) => codes.test(code))?.[1];
  throw advice
    ? new DependencyError(`the database ${location} cannot be opened (${code})`, { cause, advice })
    : error;
}

const RESTORE = `stop the gateway and put a backup in its place by ${PROGRAM_NAME} restore FILE --force, which keeps the journals`;

const ADVICE = [
  [
    /^(EACCES|EPERM|EROFS|SQLITE_READONLY.*|SQLITE_CANTOPEN.*)$/,
    "let this user write it and its folder, or set GATEWAY_DATA_DIR to another folder",
  ],
  [/^(SQLITE_NOTADB|SQLITE_CORRUPT.*)$/, `it is damaged; ${RESTORE}`],
] as const;

/**
 * Commits do not wait for the disk. A thread makes WAL checkpoints; a commit makes a checkpoint only when the thread is
 * far behind.
 */
const SETTINGS = ["PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 16000"];

type Around = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a function that runs pieces of work one after another, each wrapped by `around`. */
function turns(around: Around): Around {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(() => around(work));
    last = run.catch(() => {});
    return run;
  };
}

/** Inserts rows in one transaction. */
async function insertGroup(
  inserter: RowInserter,
  { table, rows, addition }: { table: string; rows: readonly object[]; addition: Addition | undefined },
  signal: AbortSignal,
): Promise<number> {
  await retryWhileLocked(async () => inserter.begin(), signal);
  try {
    addition?.number(inserter.sequence());
    const added = inserter.insert(table, rows);
    for (const sums of addition?.sumsOf(added) ?? []) inserter.add(sums);
    inserter.commit();
    return added.length;
  } catch (error) {
    inserter.rollback();
    throw error;
  }
}

/**
 * Maximum number of rows in a transaction. With fewer rows, the same pages would be written more often. With more rows,
 * other writers would wait.
 */
const ROWS_A_TRANSACTION = 512;

/** SQLite blocks the thread while it waits for a lock, so each wait is short and is repeated. */
const BUSY_TIMEOUT_MS = 2;
const BUSY_RETRY_MS = 2;

/**
 * Repeats an attempt while another connection has the lock. An immediate transaction can fail on the lock only at its
 * beginning, so no work is repeated.
 */
async function retryWhileLocked<T>(attempt: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error)) throw error;
      await sleep(BUSY_RETRY_MS, signal);
    }
  }
}

/**
 * Inserts rows one by one with a prepared statement on a connection of its own. This takes a third of the time of one
 * statement with many rows. Does not wait for locks; the caller tries again.
 */
interface RowInserter {
  /** Begins a transaction, which takes the write lock immediately. */
  begin(): void;
  /** Inserts rows of one shape, skips existing rows, and returns the new rows. */
  insert(table: string, rows: readonly object[]): object[];
  /** Returns the sequence number of the entries that the transaction inserts. */
  sequence(): bigint;
  add(sums: Sums): void;
  commit(): void;
  rollback(): void;
  close(): void;
}

/** Opens a connection to an existing database file. */
function openRowInserter(location: string, settings: readonly string[]): RowInserter {
  const database = new Connection(location, { readwrite: true, safeIntegers: true });
  for (const setting of settings) database.run(setting);
  // Does not wait for a lock: this thread itself may hold the lock, and could not release it while waiting.
  database.run("PRAGMA busy_timeout = 0");
  return {
    begin: () => void database.run("BEGIN IMMEDIATE"),
    insert(table, rows) {
      const [text] = insertStatement("sqlite", table, rows.slice(0, 1));
      const statement = database.query<unknown, SQLQueryBindings[]>(text);
      return rows.filter((row) => statement.run(...Object.values(row)).changes > 0);
    },
    sequence: () =>
      sequenceOf(database.query<{ number: bigint }, []>(SEQUENCE_STATEMENTS.sqlite.join(";")).get()),
    add(sums) {
      if (sums.rows.length === 0) return;
      const [text] = additionStatement("sqlite", sums, sums.rows.slice(0, 1));
      const statement = database.query<unknown, SQLQueryBindings[]>(text);
      for (const row of sums.rows) statement.run(...Object.values(row));
    },
    commit: () => void database.run("COMMIT"),
    rollback: () => void (database.inTransaction && database.run("ROLLBACK")),
    close: () => database.close(),
  };
}
