import tables from "../migrations/0001_tables.sql" with { type: "text" };
import ledgerExports from "../migrations/0002_ledger_exports.sql" with { type: "text" };
import chargedFailures from "../migrations/0003_charged_failures.sql" with { type: "text" };
import ledgerExportEpochs from "../migrations/0004_ledger_export_epochs.sql" with { type: "text" };
import webhookFormats from "../migrations/0005_webhook_formats.sql" with { type: "text" };
import eventEnds from "../migrations/0006_event_ends.sql" with { type: "text" };
import budgetLevels from "../migrations/0007_budget_levels.sql" with { type: "text" };
import series from "../migrations/0008_series.sql" with { type: "text" };
import messageCodes from "../migrations/0009_message_codes.sql" with { type: "text" };
import callerSeries from "../migrations/0010_caller_series.sql" with { type: "text" };
import type { Integer } from "./expressions.ts";
import type { Database, Sql } from "./sql.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Progress } from "../../lib/progress.ts";

/**
 * All migrations in order; the version of a migration is its position in the list. Processes of the previous version
 * continue to work during a migration, so a migration changes the schema only by adding tables, indexes, and columns
 * that an INSERT may leave out.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_tables", text: tables },
  { name: "0002_ledger_exports", text: ledgerExports },
  { name: "0003_charged_failures", text: chargedFailures },
  { name: "0004_ledger_export_epochs", text: ledgerExportEpochs },
  { name: "0005_webhook_formats", text: webhookFormats },
  { name: "0006_event_ends", text: eventEnds },
  { name: "0007_budget_levels", text: budgetLevels },
  { name: "0008_series", text: series },
  { name: "0009_message_codes", text: messageCodes },
  { name: "0010_caller_series", text: callerSeries },
];

interface Migration {
  name: string;
  text: string;
}

/**
 * Brings the database to the schema that this code needs. Runs each missing migration in order, all in one transaction
 * and under a lock, so that processes that start at the same time run each migration only once. Returns the names of
 * the migrations that ran. Throws an `Error` when the database is newer than the code or has unknown migrations.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  onProgress: Progress = () => {},
): Promise<string[]> {
  onProgress("Waiting for the database.");
  // This query reports an unavailable server after the usual timeout, not after the long timeout of a migration.
  await database.read((sql) => sql`SELECT 1`);
  return await database.begin(async (sql) => {
    await lock(database.kind, sql);
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (
      version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
    )`;
    const current = await countApplied(sql, migrations);
    const missing = migrations.slice(current);
    for (const [index, migration] of missing.entries()) {
      onProgress(`Applying ${migration.name}.`);
      await sql.unsafe(textFor(database.kind, migration.text));
      await sql`INSERT INTO schema_migrations (version, name, applied_at)
        VALUES (${current + index + 1}, ${migration.name}, ${systemClock.now()})`;
    }
    return missing.map((migration) => migration.name);
  }, TIMEOUT_MS);
}

/** Returns false for an empty database, to which no migration was ever applied. */
export async function isMade(database: Database): Promise<boolean> {
  const rows = await database.read((sql) =>
    database.kind === "postgres"
      ? sql<object[]>`SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL`
      : sql<object[]>`SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'`,
  );
  return rows.length > 0;
}

/** Returns the number of applied migrations of the database. Throws for a migration that the code does not know. */
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

/**
 * Returns the text of a migration for a database. On SQLite, the content of a comment that begins with `on SQLite:` is
 * part of the statement.
 */
function textFor(kind: Database["kind"], text: string): string {
  return kind === "sqlite" ? text.replace(/\/\* on SQLite: ([^*]*) \*\//g, "$1") : text;
}

/** Timeout of a migration. An index on a large table takes time, and another process may be migrating. */
const TIMEOUT_MS = 60 * 60_000;

/** Number of the advisory lock. It may be any number that no other program uses on the same database. */
const LOCK = 7_283_114;

/** Excludes other migrations. PostgreSQL needs this lock; on SQLite, only one transaction writes at a time. */
async function lock(kind: Database["kind"], sql: Sql): Promise<void> {
  if (kind !== "postgres") return;
  await sql`SET LOCAL statement_timeout = 0`;
  await sql`SET LOCAL lock_timeout = 0`;
  await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
}
