import tables from "../migrations/0001_tables.sql" with { type: "text" };
import ledgerExports from "../migrations/0002_ledger_exports.sql" with { type: "text" };
import chargedFailures from "../migrations/0003_charged_failures.sql" with { type: "text" };
import ledgerExportEpochs from "../migrations/0004_ledger_export_epochs.sql" with { type: "text" };
import type { Integer } from "./expressions.ts";
import type { Database, Sql } from "./sql.ts";
import { systemClock } from "../../lib/clock.ts";

/**
 * Every migration, in order; its version is its position in this list. Processes of the version before go on
 * working while a new one migrates, so a migration only adds: tables, indexes, columns that may be left out.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_tables", text: tables },
  { name: "0002_ledger_exports", text: ledgerExports },
  { name: "0003_charged_failures", text: chargedFailures },
  { name: "0004_ledger_export_epochs", text: ledgerExportEpochs },
];

interface Migration {
  name: string;
  text: string;
}

/**
 * Brings the database to the form this code needs: each missing migration in order, all in one transaction and
 * under a lock, so that processes starting together do it once. Returns the names of those it applied. Throws an
 * `Error` when the database is newer than the code, or was made by migrations that the code does not know.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  // A server that is away is reported after the usual time, not after that of a migration.
  await database.read((sql) => sql`SELECT 1`);
  return await database.begin(async (sql) => {
    await lock(database.kind, sql);
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (
      version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
    )`;
    const current = await countApplied(sql, migrations);
    const missing = migrations.slice(current);
    for (const [index, migration] of missing.entries()) {
      await sql.unsafe(textFor(database.kind, migration.text));
      await sql`INSERT INTO schema_migrations (version, name, applied_at)
        VALUES (${current + index + 1}, ${migration.name}, ${systemClock.now()})`;
    }
    return missing.map((migration) => migration.name);
  }, TIMEOUT_MS);
}

/** The number of migrations that the database has had, each of which must be known. */
async function countApplied(sql: Sql, migrations: readonly Migration[]): Promise<number> {
  const applied = await sql<{ version: Integer; name: string }[]>`
    SELECT version, name FROM schema_migrations ORDER BY version`;
  for (const [index, { name }] of applied.entries()) {
    const known = migrations[index]?.name;
    if (known !== undefined && known !== name)
      throw new Error(
        `the schema of the database is unknown: its migration ${index + 1} is ${name} and not ${known}. A development version made it: use another database`,
      );
  }
  const current = Number(applied.at(-1)?.version ?? 0);
  if (current > migrations.length)
    throw new Error(
      `the database is at version ${current} but this program only knows ${migrations.length}: update the program`,
    );
  return current;
}

/** The text for a database: on SQLite the content of a comment that begins with `on SQLite:` is part of the statement. */
function textFor(kind: Database["kind"], text: string): string {
  return kind === "sqlite" ? text.replace(/\/\* on SQLite: ([^*]*) \*\//g, "$1") : text;
}

/** An index on a large table takes its time, and so does another process that is just migrating. */
const TIMEOUT_MS = 60 * 60_000;

/** Any number that no other program on the same database locks. */
const LOCK = 7_283_114;

/** SQLite's transactions exclude each other from their beginning; PostgreSQL needs a lock of its own. */
async function lock(kind: Database["kind"], sql: Sql): Promise<void> {
  if (kind !== "postgres") return;
  await sql`SET LOCAL statement_timeout = 0`;
  await sql`SET LOCAL lock_timeout = 0`;
  await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
}
