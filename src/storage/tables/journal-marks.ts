import { storeTime } from "../database/expressions.ts";
import { firstOf, type Integer } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";

/**
 * How far the ledger has each process's journal, in batches that the process counts. A mark is committed after its
 * batch, so a database that went back in time to a state without the batch has not its mark either.
 */
export interface JournalMarks {
  /** The marks of some processes; those without one are missing. */
  read(processIds: readonly string[]): Promise<Map<string, number>>;
  /** The batch is posted. Changes nothing where the batch before it is missing: `set` follows once all is there. */
  raise(processId: string, batch: number): Promise<void>;
  /** All batches up to this one are posted. */
  set(processId: string, batch: number): Promise<void>;
  /** Nothing is left that the marks of these processes could be compared with. */
  remove(processIds: readonly string[]): Promise<void>;
  /** The id that this ledger shares with its copies alone. */
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

/** Derived from when the database was made, so that a copy from before it had an id is given the same one. */
async function ledgerId(sql: Sql): Promise<string> {
  await sql`INSERT INTO ledger_identity (id, ledger)
    SELECT 1, 'ledger_' || applied_at FROM schema_migrations WHERE version = 1
    ON CONFLICT DO NOTHING`;
  const row = firstOf(await sql<{ ledger: string }[]>`SELECT ledger FROM ledger_identity`);
  if (!row) throw new Error("the ledger has no id");
  return row.ledger;
}
