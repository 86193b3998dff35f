import type { Database, Sql } from "./sql.ts";

/** How long a transaction of many changes may take. */
const TIMEOUT_MS = 60_000;

/**
 * Runs work on the database as one transaction: every read in it sees its own changes, and every transaction of the work
 * is a part of this one. When it throws, nothing is changed.
 */
export function transactionOf<Result>(
  database: Database,
  work: (joined: Database) => Promise<Result>,
): Promise<Result> {
  return database.begin((sql) => work(joinedTo(database, sql)), TIMEOUT_MS);
}

function joinedTo(database: Database, sql: Sql): Database {
  const run = async <T>(part: (sql: Sql) => PromiseLike<T>): Promise<T> => await part(sql);
  return { ...database, read: run, readConsistently: run, begin: run };
}
