import { SQL } from "bun";
import { connectionPool } from "./connection-pool.ts";
import { addSums } from "./add-sums.ts";
import { groupsOf, insertStatement } from "./insert-statement.ts";
import { nextSequence } from "./ledger-sequence.ts";
import { boundCalls, REPORT_TIMEOUT_MS, type Addition, type Database, type Sql } from "./sql.ts";

/** Opens a PostgreSQL database; the first call connects. */
export function openPostgres(location: string, timeoutMs: number, poolSize: number): Database {
  const database = decodeURIComponent(new URL(location).pathname.slice(1));
  const pool = connectionPool(poolSize, () => connect(location, database, timeoutMs));
  const calls = boundCalls(timeoutMs);
  return {
    kind: "postgres",
    read: (query, timeoutMs) =>
      calls((signal) => pool.use(signal, async (sql) => await query(sql)), timeoutMs),
    readConsistently: (work) =>
      calls((signal) => pool.use(signal, (sql) => report(sql, work, signal)), REPORT_TIMEOUT_MS),
    begin: (work, timeoutMs) =>
      calls((signal) => pool.use(signal, (sql) => transact(sql, "READ WRITE", work, signal)), timeoutMs),
    insertRows: (table, rows, addition) =>
      calls((signal) =>
        pool.use(signal, async (sql) => {
          if (!addition) return await insert(sql, table, rows);
          const work = (transaction: Sql) => insertAndAdd(transaction, { table, rows, addition });
          // Not READ WRITE, which a server that only reads for a while would take for an order to write.
          return await transact(sql, "ISOLATION LEVEL READ COMMITTED", work, signal);
        }),
      ),
    // Every commit has waited for the server's disk.
    persist: () => Promise.resolve(),
    notify(channel) {
      // Who listens also looks by itself, so a lost notification only costs time.
      const send = (sql: Sql) => sql`SELECT pg_notify(${channel}, '')`;
      calls((signal) => pool.use(signal, async (sql) => await send(sql))).catch(() => {});
    },
    async listen(channel, onNotify) {
      const sql = connect(location, database, timeoutMs);
      const subscription = await sql.listen(channel, onNotify);
      return {
        async stop() {
          await subscription.unlisten().catch(() => {});
          await sql.close({ timeout: 0 }).catch(() => {});
        },
      };
    },
    close: () => pool.close(),
  };
}

/** Runs `work` in one transaction, which is rolled back when the signal has aborted by its end. */
async function transact<T>(
  sql: SQL,
  mode: string,
  work: (sql: SQL) => PromiseLike<T>,
  signal: AbortSignal,
): Promise<T> {
  const { value } = await sql.begin(mode, async (transaction) => {
    signal.throwIfAborted();
    const value = await work(transaction);
    signal.throwIfAborted();
    return { value };
  });
  return value;
}

async function insert(sql: SQL, table: string, rows: readonly object[]): Promise<number> {
  let count = 0;
  for (const group of groupsOf(rows)) {
    const [text, values] = insertStatement("postgres", table, group);
    count += Number((await sql.unsafe(text, values)).count);
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
  // A row may have been named twice.
  const fresh = new Map(
    rows.map((row) => [nameOf(row), row]).filter(([name]) => added.has(name as string)) as [string, object][],
  );
  await addSums("postgres", sql, addition.sumsOf([...fresh.values()]));
  return added.size;
}

/** One state of the database lasts as long as the transaction; its statements may take as long as the report. */
function report<T>(sql: SQL, work: (sql: Sql) => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const withoutTimeouts = async (transaction: Sql) => {
    await transaction`SET LOCAL statement_timeout = 0`;
    await transaction`SET LOCAL idle_in_transaction_session_timeout = 0`;
    return await work(transaction);
  };
  return transact(sql, "ISOLATION LEVEL REPEATABLE READ READ ONLY", withoutTimeouts, signal);
}

const CONNECT_TIMEOUT_SECONDS = 1;

/** A client with one connection, which sends TCP keepalives after 60 s of silence (Bun manual, SQL, timeouts). */
function connect(location: string, database: string, timeoutMs: number): SQL {
  return new SQL(location, {
    adapter: "postgres",
    bigint: true,
    max: 1,
    connectionTimeout: CONNECT_TIMEOUT_SECONDS,
    // Named here because a PGDATABASE in the environment would win over the one in the address.
    ...(database === "" ? {} : { database }),
    connection: {
      application_name: "model-inference-gateway",
      synchronous_commit: "on",
      statement_timeout: String(timeoutMs),
      lock_timeout: String(timeoutMs),
      idle_in_transaction_session_timeout: String(timeoutMs * 2),
      // The server ends sessions of a machine that vanished after 90 s, not after two hours.
      tcp_keepalives_idle: "60",
      tcp_keepalives_interval: "10",
      tcp_keepalives_count: "3",
    },
  });
}
