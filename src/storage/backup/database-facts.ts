import type { LedgerVerification } from "../../admin/ledger-ports.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** What was found in a database that was read as a whole. */
export interface DatabaseFacts {
  migrations: number;
  /** In the ledger. */
  entries: number;
  verification: LedgerVerification;
}

/** How many migrations a database has had. Throws where it is none of this program. */
export async function migrationsOf(database: Database): Promise<number> {
  const [row] = await database.read(
    (sql) => sql<{ version: Integer | null }[]>`SELECT MAX(version) AS version FROM schema_migrations`,
  );
  return Number(row?.version ?? 0);
}
