import { DependencyError } from "../../gateway/dependency-error.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { isUnavailable } from "./unavailable.ts";

/**
 * The access of all stores to the database, SQLite or PostgreSQL. Every call ends within its deadline, except `read` on
 * SQLite, which blocks the thread. A failure that means "unavailable now" is thrown as a `DependencyError`; other
 * errors pass unchanged.
 */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** Runs a query outside of `begin`. The query reads only committed rows. */
  read<T>(query: (sql: Sql) => PromiseLike<T>, timeoutMs?: number): Promise<T>;
  /**
   * Runs reads on one consistent state of the database without blocking writers. For reports, which may take an hour.
   */
  readConsistently<T>(work: (sql: Sql) => PromiseLike<T>): Promise<T>;
  /**
   * Runs `work` in one transaction. After its deadline the transaction is rolled back, even if `work` completes later.
   */
  begin<T>(work: (sql: Sql) => PromiseLike<T>, timeoutMs?: number): Promise<T>;
  /**
   * Inserts rows of one shape, skips existing rows, and returns the number of new rows. The call may take several
   * transactions, so some rows may be inserted although the call throws. The sums that `addition` makes from new rows
   * are added in the transaction of these rows.
   */
  insertRows(table: string, rows: readonly object[], addition?: Addition): Promise<number>;
  /** Resolves when everything committed so far would survive a loss of power. */
  persist(): Promise<void>;
  /**
   * Throws a `DependencyError` while a SQLite file is not the file that was opened, because writes would be lost.
   * Writes and `persist` throw the same error.
   */
  verifyFiles(): void;
  /**
   * Notifies the listeners of every process soon. A notification may get lost. Only PostgreSQL delivers notifications.
   */
  notify(channel: string): void;
  /**
   * Calls `onNotify` for every notification that arrives, of any process. Returns null when the database cannot notify.
   */
  listen(channel: string, onNotify: () => void): Promise<{ stop(): Promise<void> } | null>;
  close(): Promise<void>;
}

/** The sums to which `insertRows` adds the new rows. */
export interface Addition {
  /** Columns that identify one of the rows. */
  identity: readonly string[];
  sumsOf(rows: readonly object[]): readonly Sums[];
  /** Called before the rows are inserted, with the sequence number of their transaction; see `nextSequence`. */
  number(sequence: bigint): void;
}

/** Rows whose numbers are added to the stored rows with the same `key`, ordered by the key. */
export interface Sums {
  table: string;
  key: readonly string[];
  rows: readonly object[];
}

/** The database client, inside or outside of a transaction. */
export interface Sql {
  /** A statement, which runs when it is awaited, or a part of another statement. */
  <Rows = unknown>(strings: TemplateStringsArray, ...values: unknown[]): PromiseLike<Rows>;
  /** After INSERT INTO or SET, the columns of one or more rows; after IN, the values of a list. */
  (columnsOrList: object): unknown;
  /**
   * Makes a statement from a text, which must not contain input of callers. A text without values may have several
   * statements.
   */
  unsafe<Rows = unknown>(text: string, values?: unknown[]): PromiseLike<Rows>;
}

export const REPORT_TIMEOUT_MS = 60 * 60_000;

/** Maximum number of calls that run or wait. Further calls are refused, so that an outage does not fill the memory. */
const MAX_CALLS = 2000;

/** Runs work under a deadline. The signal aborts when the deadline has passed and the caller no longer waits. */
type BoundedCall = <T>(run: (signal: AbortSignal) => Promise<T>, timeoutMs?: number) => Promise<T>;

/**
 * Gives every call a deadline, limits the number of running calls, and translates errors of the database by `failure`.
 */
export function boundCalls(
  defaultTimeoutMs: number,
  failure: (error: unknown) => unknown = failureOf,
): BoundedCall {
  let underWay = 0;
  return async (run, timeoutMs = defaultTimeoutMs) => {
    if (underWay >= MAX_CALLS) throw new DependencyError("too many calls wait for the database");
    underWay += 1;
    const deadline = new AbortController();
    const late = () => {
      const error = new DependencyError("the database did not respond in time");
      deadline.abort(error);
      return error;
    };
    const result = run(deadline.signal).finally(() => (underWay -= 1));
    try {
      return await withDeadline(timeoutMs, result, late);
    } catch (error) {
      throw failure(error);
    }
  };
}

/** Translates an error of the database into the error that a call throws. */
export function failureOf(error: unknown): unknown {
  return isUnavailable(error) ? new DependencyError("the database is unavailable", { cause: error }) : error;
}
