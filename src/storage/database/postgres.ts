import type { SQL } from "bun";
import { connectionPool } from "./connection-pool.ts";
import { addSums, groupsOf, insertStatement } from "./insert-statement.ts";
import { nextSequence } from "./ledger-sequence.ts";
import { postgresConnector, type PostgresConnection } from "./postgres-connect.ts";
import { boundCalls, REPORT_TIMEOUT_MS, type Addition, type Database, type Sql } from "./sql.ts";

/** Opens a PostgreSQL database. Connects only when a method is called. */
export function openPostgres(location: string, timeoutMs: number, poolSize: number): Database {
  const connector = postgresConnector(location, timeoutMs);
  const pool = connectionPool(poolSize, (signal) => connector.connect(signal));
  const calls = boundCalls(timeoutMs);
  const transact: Transact = async ({ sql, isPooled }, mode, work, signal) => {
    const { value } = await sql.begin(mode, async (transaction) => {
      signal.throwIfAborted();
      if (isPooled) await transaction.unsafe(connector.transactionSettings);
      const value = await work(transaction);
      signal.throwIfAborted();
      return { value };
    });
    return value;
  };
  /** Runs statements outside of a transaction. Through a pooler, runs them in a transaction that sets the timeouts. */
  const run: Run = async (connection, work, signal) =>
    connection.isPooled ? await transact(connection, ANY_MODE, work, signal) : await work(connection.sql);
  return {
    kind: "postgres",
    read: (query, timeoutMs) =>
      calls((signal) => pool.use(signal, (connection) => run(connection, query, signal)), timeoutMs),
    readConsistently: (work) =>
      calls(
        (signal) => pool.use(signal, (connection) => report(transact, connection, work, signal)),
        REPORT_TIMEOUT_MS,
      ),
    begin: (work, timeoutMs) =>
      calls(
        (signal) => pool.use(signal, (connection) => transact(connection, "READ WRITE", work, signal)),
        timeoutMs,
      ),
    insertRows: (table, rows, addition) =>
      calls((signal) =>
        pool.use(signal, (connection) =>
          addition
            ? transact(connection, ANY_MODE, (sql) => insertAndAdd(sql, { table, rows, addition }), signal)
            : run(connection, (sql) => insert(sql, table, rows), signal),
        ),
      ),
    // Does nothing, because each commit has already waited for the server's disk.
    persist: () => Promise.resolve(),
    verifyFiles: () => {},
    notify(channel) {
      // Every listener also polls, so a lost notification only costs time.
      const send = (sql: Sql) => sql`SELECT pg_notify(${channel}, '')`;
      calls((signal) => pool.use(signal, (connection) => run(connection, send, signal))).catch(() => {});
    },
    async listen(channel, onNotify) {
      if (await calls((signal) => pool.use(signal, async ({ isPooled }) => isPooled))) return null;
      return await listenOn(connector.listener(), channel, onNotify);
    },
    close: () => pool.close(),
  };
}

/** Opens a separate connection and listens on it. */
async function listenOn(sql: SQL, channel: string, onNotify: () => void) {
  const subscription = await sql.listen(channel, onNotify);
  return {
    async stop() {
      await subscription.unlisten().catch(() => {});
      await sql.close({ timeout: 0 }).catch(() => {});
    },
  };
}

/** Mode that every server accepts. A server that is temporarily read-only would refuse READ WRITE. */
const ANY_MODE = "ISOLATION LEVEL READ COMMITTED";

/** Runs `work` in one transaction. Rolls the transaction back if the signal has aborted before the end of `work`. */
type Transact = <T>(
  connection: PostgresConnection,
  mode: string,
  work: (sql: Sql) => PromiseLike<T>,
  signal: AbortSignal,
) => Promise<T>;

type Run = <T>(
  connection: PostgresConnection,
  work: (sql: Sql) => PromiseLike<T>,
  signal: AbortSignal,
) => Promise<T>;

async function insert(sql: Sql, table: string, rows: readonly object[]): Promise<number> {
  let count = 0;
  for (const group of groupsOf(rows)) {
    const [text, values] = insertStatement("postgres", table, group);
    count += Number((await sql.unsafe<{ count: number }>(text, values)).count);
  }
  return count;
}

async function insertAndAdd(
  sql: Sql,
  { table, rows, addition }: { table: string; rows: readonly object[]; addition: Addition },
): Promise<number> {
  const { identity } = addition;
  addition.number(await nextSequence("postgres", sql));
  const nameOf = (row: object): string =>
    identity.map((column) => (row as Record<string, unknown>)[column]).join("\n");
  const added = new Set<string>();
  for (const group of groupsOf(rows)) {
    const [text, values] = insertStatement("postgres", table, group);
    const found = await sql.unsafe<object[]>(`${text} RETURNING ${identity.join(",")}`, values);
    for (const row of found) added.add(nameOf(row));
  }
  // The same row may occur twice, so rows are counted by their identity.
  const named = rows.map((row): [string, object] => [nameOf(row), row]);
  const fresh = new Map(named.filter(([name]) => added.has(name)));
  await addSums("postgres", sql, addition.sumsOf([...fresh.values()]));
  return added.size;
}

/**
 * Runs a report in one transaction, so that it reads one consistent state. Each statement may take as long as the whole
 * report.
 */
function report<T>(
  transact: Transact,
  connection: PostgresConnection,
  work: (sql: Sql) => PromiseLike<T>,
  signal: AbortSignal,
): Promise<T> {
  const withoutTimeouts = async (transaction: Sql) => {
    await transaction`SET LOCAL statement_timeout = 0`;
    await transaction`SET LOCAL idle_in_transaction_session_timeout = 0`;
    return await work(transaction);
  };
  return transact(connection, "ISOLATION LEVEL REPEATABLE READ READ ONLY", withoutTimeouts, signal);
}
