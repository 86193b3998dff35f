import { PROGRAM_NAME } from "../../lib/program-files.ts";
import type { Integer } from "../database/expressions.ts";
import { isMade, MIGRATIONS } from "../database/migrate.ts";
import type { Database } from "../database/sql.ts";
import type { LedgerVerification } from "../../admin/ledger/verification-schema.ts";

/** Results of reading a whole database. */
export interface DatabaseFacts {
  migrations: number;
  /** Number of entries in the ledger. */
  entries: number;
  verification: LedgerVerification;
}

/**
 * Returns the number of migrations that were applied to a database. Throws an `Error` when some are missing, because
 * tables may then be absent.
 */
export async function requireCurrent(database: Database): Promise<number> {
  if (!(await isMade(database))) throw new Error("the database is empty: no gateway has made its tables");
  const [row] = await database.read(
    (sql) => sql<{ version: Integer | null }[]>`SELECT MAX(version) AS version FROM schema_migrations`,
  );
  const migrations = Number(row?.version ?? 0);
  if (migrations < MIGRATIONS.length)
    throw new Error(
      `the database is at version ${migrations} and this program at ${MIGRATIONS.length}: back it up with the program of its version, or run ${PROGRAM_NAME} migrate first`,
    );
  return migrations;
}
