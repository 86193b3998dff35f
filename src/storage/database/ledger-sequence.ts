import { DependencyError } from "../../gateway/dependency-error.ts";
import { sleep } from "../../lib/waiting.ts";
import type { Database, Sql } from "./sql.ts";

/*
 * Entries of the ledger have a number, so that who has read up to one finds all later entries behind it. Transactions
 * that post do not wait for each other: each takes a number above all that were promised to readers, and a reader is
 * promised a number only when those that may have one up to it have ended.
 */

/** Any number that no other program on the same database locks. */
const POSTING = 7_283_115;

const NOW = {
  postgres: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};

/**
 * Statements to run in a transaction before it inserts into the ledger; the last returns the number of its entries, the
 * time in Unix milliseconds or more. On PostgreSQL a lock that all can have shows others that it runs; it must be seen
 * before the number is chosen, so these are two statements.
 */
export const SEQUENCE_STATEMENTS = {
  postgres: [
    `SELECT pg_advisory_xact_lock_shared(${POSTING})`,
    `SELECT GREATEST(${NOW.postgres}, promised + 1) AS number FROM ledger_sequence`,
  ],
  // A transaction that writes is alone.
  sqlite: [`SELECT MAX(${NOW.sqlite}, promised + 1) AS number FROM ledger_sequence`],
};

/** The number of the entries that this transaction inserts. */
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
/** Transactions end sooner, by their own deadlines. */
const MAX_WAIT_MS = 60_000;

/** A number up to which every entry can be read now, and none will be added. Throws a `DependencyError`. */
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

/** Waits for the transactions that post now; those that begin later have a higher number. */
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
