import { addSums } from "../database/insert-statement.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { readEntryRow } from "./ledger-row.ts";
import { usageSums } from "./usage-sums.ts";

/** Entries of one transaction: few, as SQLite works on the thread of the requests. */
const BATCH = 200;
/** Processes of an earlier version may go on for so long beside this one. */
const OVERLAP_MS = 60 * 60_000;

/** How late an entry of the present may be written. */
const LATE_MS = 5 * 60_000;

interface Progress {
  at: Integer;
  entry: string;
  kind: string;
  until_time: Integer;
  is_complete: Integer;
}

/**
 * Adds a batch of entries that earlier versions have written to the sums of usage. Returns whether there may be more
 * now. Several processes may do it at once: each batch is added by one of them.
 */
export async function backfillUsage(database: Database, now: number): Promise<"more" | "none" | "complete"> {
  const progress = await readProgress(database, now);
  if (!progress) return "complete";
  const end = Math.min(progress.until, now);
  const { at, entry, kind } = progress;
  const rows = await database.read(
    (sql) => sql<Row[]>`SELECT * FROM ledger
      WHERE at >= ${at} AND (at, id, kind) > (${at}, ${entry}, ${kind}) AND at < ${end} AND is_summed IS NULL
      ORDER BY at, id, kind LIMIT ${BATCH}`,
  );
  const isLast = rows.length < BATCH;
  const isComplete = isLast && end === progress.until;
  const last = rows.at(-1) ?? { at, id: entry, kind };
  // Where nothing is left, what may still be written comes later than that.
  const reached = isLast && Number(last.at) < end - LATE_MS ? { at: end - LATE_MS, id: "", kind: "" } : last;
  if (rows.length === 0 && !isComplete && Number(reached.at) === at) return "none";
  await database.begin(async (sql) => {
    const moved = await sql<object[]>`UPDATE usage_backfill SET at = ${reached.at}, entry = ${reached.id},
        kind = ${reached.kind}, is_complete = ${isComplete ? 1 : 0}
      WHERE id = 1 AND at = ${at} AND entry = ${entry} AND kind = ${kind} AND is_complete = 0 RETURNING id`;
    if (moved.length > 0) await addSums(database.kind, sql, usageSums(rows.map(readEntryRow)));
  });
  if (isComplete) return "complete";
  return isLast ? "none" : "more";
}

/** Adds all that earlier versions have written up to a time. */
export async function finishBackfill(database: Database, now: number): Promise<void> {
  while ((await backfillUsage(database, now)) === "more");
}

/** Unix milliseconds up to which usage is summed; null when all of it is. */
export async function backfilledUntil(database: Database): Promise<number | null> {
  const [row] = await database.read(
    (sql) => sql<Progress[]>`SELECT * FROM usage_backfill WHERE id = 1 AND is_complete = 0`,
  );
  return row ? Number(row.at) : null;
}

async function readProgress(database: Database, now: number) {
  const [row] = await database.read(
    (sql) => sql<Progress[]>`SELECT * FROM usage_backfill WHERE id = 1 AND is_complete = 0`,
  );
  if (!row) return null;
  const { at, entry, kind } = row;
  if (Number(row.until_time) > 0) return { at: Number(at), entry, kind, until: Number(row.until_time) };
  const until = now + OVERLAP_MS;
  await database.begin(
    (sql) => sql`UPDATE usage_backfill SET until_time = ${until} WHERE id = 1 AND until_time = 0`,
  );
  return { at: Number(at), entry, kind, until };
}
