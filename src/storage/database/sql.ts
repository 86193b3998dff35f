import { DependencyError } from "../../gateway/dependency-error.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { isUnavailable } from "./unavailable.ts";

/**
 * The one way to the database, SQLite or PostgreSQL. Every call ends within its deadline, and every failure that
 * means "unavailable now" is a `DependencyError`; other errors pass unchanged.
 */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** Runs a query outside of a transaction; it sees committed rows only. */
  read<T>(query: (sql: Sql) => PromiseLike<T>, timeoutMs?: number): Promise<T>;
  /** Runs reads on one state of the database, blocking no writer. For reports: they may take an hour. */
  readConsistently<T>(work: (sql: Sql) => PromiseLike<T>): Promise<T>;
  /** Runs `work` in one transaction. Once its deadline has passed it is rolled back, even if it ends later. */
  begin<T>(work: (sql: Sql) => PromiseLike<T>, timeoutMs?: number): Promise<T>;
  /**
   * Inserts rows of one shape, skipping those that exist, and returns how many were new. Not in one transaction:
   * when it throws, some may have been inserted. What `addition` makes of new rows is added in their transaction.
   */
  insertRows(table: string, rows: readonly object[], addition?: Addition): Promise<number>;
  /** Returns once everything committed so far survives a loss of power. */
  persist(): Promise<void>;
  /**
   * Throws a `DependencyError` while a SQLite file is not the one that was opened: what is written now would be lost.
   * Writes and `persist` throw the same.
   */
  verifyFiles(): void;
  /** Calls back in every process that listens, soon and at most; only PostgreSQL carries it. */
  notify(channel: string): void;
  /** Calls back at each `notify` of another process; null where the database cannot tell. */
  listen(channel: string, onNotify: () => void): Promise<{ stop(): Promise<void> } | null>;
  close(): Promise<void>;
}

/** Sums that new rows are added to. */
export interface Addition {
  /** Columns that tell one row of the table from another. */
  identity: readonly string[];
  sumsOf(rows: readonly object[]): readonly Sums[];
  /** Called before the rows are inserted: see `nextSequence`. */
  number(sequence: bigint): void;
}

/** Rows whose numbers are added to the stored rows with the same `key`, in the order of the key. */
export interface Sums {
  table: string;
  key: readonly string[];
  rows: readonly object[];
}

/** The client inside a transaction, or outside of one. */
export interface Sql {
  /** A statement that runs once it is awaited, or a part of another one that it stands in. */
  <Rows = unknown>(strings: TemplateStringsArray, ...values: unknown[]): PromiseLike<Rows>;
  /** Columns of a row or of rows, after INSERT INTO a table or after SET; or the values of a list, after IN. */
  (columnsOrList: object): unknown;
  /** The same as a template, of text that no caller had a hand in. Without values it may be several statements. */
  unsafe<Rows = unknown>(text: string, values?: unknown[]): PromiseLike<Rows>;
}

export const REPORT_TIMEOUT_MS = 60 * 60_000;

/** Calls that may wait for the database at once; more are refused, so that an outage fills no memory. */
const MAX_CALLS = 2000;

/** Runs work under a deadline. The signal aborts when the deadline has passed; the caller is gone by then. */
type BoundedCall = <T>(run: (signal: AbortSignal) => Promise<T>, timeoutMs?: number) => Promise<T>;

/**
 * Gives every call a deadline and the right error, and bounds how many are under way. `failure` makes what is thrown of
 * each error as the database threw it.
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

/** The error that a call throws for one of the database. */
export function failureOf(error: unknown): unknown {
  return isUnavailable(error) ? new DependencyError("the database is unavailable", { cause: error }) : error;
}
