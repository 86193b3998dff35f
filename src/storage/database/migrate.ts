import firstTables from "../migrations/0001_first_tables.sql" with { type: "text" };
import contention from "../migrations/0002_contention_and_corrections.sql" with { type: "text" };
import sharedSecrets from "../migrations/0003_shared_secrets.sql" with { type: "text" };
import noRequestIndex from "../migrations/0004_no_request_index.sql" with { type: "text" };
import ledgerAndKeys from "../migrations/0005_ledger_and_keys.sql" with { type: "text" };
import wantedBudgets from "../migrations/0006_wanted_budgets.sql" with { type: "text" };
import priceEnds from "../migrations/0007_price_ends.sql" with { type: "text" };
import processes from "../migrations/0008_processes.sql" with { type: "text" };
import storedOutcomes from "../migrations/0009_stored_outcomes.sql" with { type: "text" };
import auditChain from "../migrations/0010_audit_chain.sql" with { type: "text" };
import jobs from "../migrations/0011_jobs.sql" with { type: "text" };
import webhooks from "../migrations/0012_webhooks.sql" with { type: "text" };
import vendorCost from "../migrations/0013_vendor_cost.sql" with { type: "text" };
import sessions from "../migrations/0014_sessions.sql" with { type: "text" };
import members from "../migrations/0015_members.sql" with { type: "text" };
import configuration from "../migrations/0016_configuration.sql" with { type: "text" };
import usage from "../migrations/0017_usage.sql" with { type: "text" };
import prompts from "../migrations/0019_prompts.sql" with { type: "text" };
import alerts from "../migrations/0018_alerts.sql" with { type: "text" };
import journalMarks from "../migrations/0020_journal_marks.sql" with { type: "text" };
import ledgerSequence from "../migrations/0021_ledger_sequence.sql" with { type: "text" };
import bookingPeriods from "../migrations/0022_booking_periods.sql" with { type: "text" };
import sources from "../migrations/0023_sources.sql" with { type: "text" };
import mailOrganizations from "../migrations/0024_mail_organizations.sql" with { type: "text" };
import outcomeSizes from "../migrations/0025_outcome_sizes.sql" with { type: "text" };
import type { Database, Sql } from "./sql.ts";

/**
 * Every migration, in order; its version is its position in this list. Processes of the version before go on
 * working while a new one migrates, so a migration only adds: tables, indexes, columns that may be left out.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_first_tables", text: firstTables },
  { name: "0002_contention_and_corrections", text: contention },
  { name: "0003_shared_secrets", text: sharedSecrets },
  { name: "0004_no_request_index", text: noRequestIndex },
  { name: "0005_ledger_and_keys", text: ledgerAndKeys },
  { name: "0006_wanted_budgets", text: wantedBudgets },
  { name: "0007_price_ends", text: priceEnds },
  { name: "0008_processes", text: processes },
  { name: "0009_stored_outcomes", text: storedOutcomes },
  { name: "0010_audit_chain", text: auditChain },
  { name: "0011_jobs", text: jobs },
  { name: "0012_webhooks", text: webhooks },
  { name: "0013_vendor_cost", text: vendorCost },
  { name: "0014_sessions", text: sessions },
  { name: "0015_members", text: members },
  { name: "0016_configuration", text: configuration },
  { name: "0017_usage", text: usage },
  { name: "0018_alerts", text: alerts },
  { name: "0019_prompts", text: prompts },
  { name: "0020_journal_marks", text: journalMarks },
  { name: "0021_ledger_sequence", text: ledgerSequence },
  { name: "0022_booking_periods", text: bookingPeriods },
  { name: "0023_sources", text: sources },
  { name: "0024_mail_organizations", text: mailOrganizations },
  { name: "0025_outcome_sizes", text: outcomeSizes },
];

interface Migration {
  name: string;
  text: string;
}

/**
 * Brings the database to the form this code needs: each missing migration in order, all in one transaction and
 * under a lock, so that processes starting together do it once. Returns the names of those it applied. Throws an
 * `Error` when the database is newer than the code.
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
    const rows = await sql<
      { version: bigint | null }[]
    >`SELECT MAX(version) AS version FROM schema_migrations`;
    const current = Number(rows[0]?.version ?? 0);
    if (current > migrations.length) {
      throw new Error(
        `the database is at version ${current} but this program only knows ${migrations.length}: update the program`,
      );
    }
    const missing = migrations.slice(current);
    for (const [index, migration] of missing.entries()) {
      await sql.unsafe(textFor(database.kind, migration.text));
      await sql`INSERT INTO schema_migrations (version, name, applied_at)
        VALUES (${current + index + 1}, ${migration.name}, ${Date.now()})`;
    }
    return missing.map((migration) => migration.name);
  }, TIMEOUT_MS);
}

/** What stands in a comment that begins with `on SQLite:` is part of the statement there. */
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
