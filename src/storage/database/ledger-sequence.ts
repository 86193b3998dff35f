import { DependencyError } from "../../gateway/dependency-error.ts";
import { sleep } from "../../lib/waiting.ts";
import type { Database, Sql } from "./sql.ts";

/*
 * Each ledger entry has a sequence number. A reader that has read up to a number finds all later entries above this
 * number. Transactions that post do not wait for each other: each chooses a number above all numbers promised to
 * readers. A reader gets a promised number only after all transactions that may have chosen a lower number have ended.
 */

/** Number of the advisory lock. It may be any number that no other program uses on the same database. */
const POSTING = 7_283_115;

const NOW = {
  postgres: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};

/**
 * Statements that a transaction runs before it inserts into the ledger. The last statement returns the sequence number:
 * the time in Unix milliseconds, or more. On PostgreSQL, a shared lock shows other processes that the transaction runs.
 * Two statements are needed, because the lock must be visible before the number is chosen.
 */
export const SEQUENCE_STATEMENTS = {
  postgres: [
    `SELECT pg_advisory_xact_lock_shared(${POSTING})`,
    `SELECT GREATEST(${NOW.postgres}, promised + 1) AS number FROM ledger_sequence`,
  ],
  // On SQLite only one transaction writes at a time, so no lock is needed.
  sqlite: [`SELECT MAX(${NOW.sqlite}, promised + 1) AS number FROM ledger_sequence`],
};

/** Returns the sequence number of the entries that this transaction inserts. */
export async function nextSequence(kind: Database["kind"], sql: Sql): Promise<bigint> {
  let rows: { number: bigint }[] = [];
  for (const text of SEQUENCE_STATEMENTS[kind]) rows = await sql.unsafe(text);
  return sequenceOf(rows[0]);
}

export function sequenceOf(row: { number: bigint } | null | undefined): bigint {
  if (!row) throw new Error("the ledger has no sequence");
  return row.number;
}

const WAIT_MS = 10;
/** Maximum wait for transactions. Transactions end earlier, because they have deadlines of their own. */
const MAX_WAIT_MS = 60_000;

/**
 * Returns a sequence number up to which all entries are final. Throws a `DependencyError` when the database is
 * unavailable, or after `MAX_WAIT_MS`.
 */
export async function readableSequence(database: Database): Promise<number> {
  const { kind } = database;
  const larger = kind === "postgres" ? "GREATEST" : "MAX";
  const [row] = await database.begin((sql) =>
    sql.unsafe<{ number: bigint }[]>(
      `UPDATE ledger_sequence SET promised = ${larger}(promised, ${NOW[kind]}) RETURNING promised AS number`,
    ),
  );
  if (kind === "postgres") await untilEnded(database);
  return Number(sequenceOf(row));
}

/** Waits for the transactions that post at this moment. Transactions that begin later choose a higher number. */
async function untilEnded(database: Database): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let before: Set<string> | null = null; ; await sleep(WAIT_MS)) {
    const rows = await database.read(
      (sql) => sql<{ id: string }[]>`SELECT virtualtransaction AS id FROM pg_locks
        WHERE locktype = 'advisory' AND classid = 0 AND objid = ${POSTING} AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    const running = rows.map(({ id }) => id).filter((id) => before?.has(id) ?? true);
    if (running.length === 0) return;
    before = new Set(running);
    if (performance.now() > deadline) throw new DependencyError("charges are being posted for too long");
  }
}
