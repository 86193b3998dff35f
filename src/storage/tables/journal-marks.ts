import { firstOf, type Integer, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";

/**
 * Stores, as a mark, the number of the last posted batch of each process's journal. A mark is committed after the
 * batch. So a database that goes back to a state without the batch does not have the mark either.
 */
export interface JournalMarks {
  /** Returns the marks of processes. Processes without a mark are missing from the result. */
  read(processIds: readonly string[]): Promise<Map<string, number>>;
  /** Records a posted batch. Does nothing when the previous batch is missing; `set` later records both batches. */
  raise(processId: string, batch: number): Promise<void>;
  /** Records that all batches up to `batch` are posted. */
  set(processId: string, batch: number): Promise<void>;
  /** Removes the marks of processes whose journals no longer exist. */
  remove(processIds: readonly string[]): Promise<void>;
  /** Returns the id of this ledger. Only copies of the ledger have the same id. */
  ledgerId(): Promise<string>;
}

export function journalMarks(database: Database): JournalMarks {
  const { kind } = database;
  return {
    async read(processIds) {
      if (processIds.length === 0) return new Map();
      const rows = await database.read(
        (sql) => sql<{ process_id: string; posted: Integer }[]>`SELECT process_id, posted FROM journal_marks
          WHERE process_id IN ${sql([...processIds])}`,
      );
      return new Map(rows.map((row) => [row.process_id, Number(row.posted)]));
    },
    async raise(processId, batch) {
      await database.begin(
        (sql) => sql`UPDATE journal_marks SET posted = ${batch}, at = ${storeTime(kind, sql)}
          WHERE process_id = ${processId} AND posted >= ${batch - 1}`,
      );
    },
    async set(processId, batch) {
      await database.begin(
        (sql) => sql`INSERT INTO journal_marks (process_id, posted, at)
          VALUES (${processId}, ${batch}, ${storeTime(kind, sql)})
          ON CONFLICT (process_id) DO UPDATE SET posted = excluded.posted, at = excluded.at`,
      );
    },
    async remove(processIds) {
      if (processIds.length > 0)
        await database.begin(
          (sql) => sql`DELETE FROM journal_marks WHERE process_id IN ${sql([...processIds])}`,
        );
    },
    ledgerId: () => database.begin(ledgerId),
  };
}

/**
 * Returns the ledger's id, which is derived from the time when the database was made. So a copy that was made before
 * the id was stored gets the id of the original.
 */
async function ledgerId(sql: Sql): Promise<string> {
  await sql`INSERT INTO ledger_identity (id, ledger)
    SELECT 1, 'ledger_' || applied_at FROM schema_migrations WHERE version = 1
    ON CONFLICT DO NOTHING`;
  const row = firstOf(await sql<{ ledger: string }[]>`SELECT ledger FROM ledger_identity`);
  if (!row) throw new Error("the ledger has no id");
  return row.ledger;
}
