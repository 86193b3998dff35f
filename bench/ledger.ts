import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportList } from "../src/admin/exports/exports.ts";
import { verifyLedger } from "../src/admin/ledger/upkeep.ts";
import type { AdminContext, OperationContext } from "../src/admin/context.ts";
import { migrate, openDatabase, type Database } from "../src/storage/index.ts";
import { storesOn } from "../src/storage/tables/stores.ts";
import { listLedger } from "../test/support/admin-calls.ts";
import { adminContext } from "../test/support/admin-context.ts";
import { findPostgres, startPostgres } from "../test/support/postgres.ts";

/**
 * Measures reading, exporting and verifying a large ledger: `bun bench/ledger.ts [rows] [sqlite|postgres]`. The default
 * is 10 million rows, in each of the two databases.
 */
const ROWS = Number(process.argv[2] ?? 10_000_000);
const KINDS = process.argv[3] === undefined ? ["sqlite", "postgres"] : [process.argv[3]];
const ROWS_A_STEP = 100_000;
const SEED_TIMEOUT_MS = 10 * 60_000;
const YEAR_MS = 365 * 24 * 60 * 60_000;
const START = Date.UTC(2025, 0, 1);
const ROUNDS = 20;

for (const kind of KINDS) await (kind === "postgres" ? onPostgres() : onSqlite());

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ledger-bench-"));
  try {
    await measure(await openDatabase(join(folder, "ledger.sqlite")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<void> {
  const found = findPostgres();
  if ("missing" in found) return console.log(`no PostgreSQL: ${found.missing}`);
  const server = await startPostgres(found.folder);
  try {
    await measure(await openDatabase(await server.createDatabase()));
  } finally {
    await server.stop();
  }
}

async function measure(database: Database): Promise<void> {
  await migrate(database);
  const seededMs = await timed(() => seed(database));
  const admin = storesOn(database).admin;
  const context: AdminContext = { ...(await adminContext()), store: admin };
  const row = (what: string, value: string) => console.log(`| ${database.kind} | ${what} | ${value} |`);
  row(`insert ${ROWS} entries with bookings`, `${Math.round((ROWS / seededMs) * 1000)} a second`);
  const middle = idOf(Math.floor(ROWS / 2));
  const pages = {
    "page of 50, newest": {},
    "page of 50, from the middle": { cursor: middle },
    "page of 50 of an organization, from the middle": { organizationId: "org_7", cursor: middle },
    "page of 50 of a key, from the middle": { keyId: "key_77", cursor: middle },
    "page of 50 of one model in 40": { model: "model_7" },
    "entries of a request id": { requestId: `request_${Math.floor(ROWS / 3)}` },
  };
  for (const [what, input] of Object.entries(pages)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(() => listLedger(context, input)));
    times.sort((one, other) => one - other);
    row(what, `${times[ROUNDS / 2]?.toFixed(1)} ms, at most ${times.at(-1)?.toFixed(1)} ms`);
  }
  row(
    "page of 50 of a model that has none",
    `${(await timed(() => listLedger(context, { model: "none" }))).toFixed(0)} ms`,
  );
  let bytes = 0;
  const exportedMs = await timed(async () => {
    for await (const piece of await exportList(context as OperationContext, "ledger", { format: "csv" }))
      bytes += piece.length;
  });
  const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
  row("export of all as CSV", `${Math.round((ROWS / exportedMs) * 1000)} a second, ${memory} MB resident`);
  const verified: string[] = [];
  const verifiedMs = await timed(async () => {
    verified.push(String((await verifyLedger(context)).differenceCount));
  });
  row(
    "verify",
    `${(verifiedMs / 1000).toFixed(1)} s, ${verified[0]} differences, ${Math.round(bytes / 2 ** 20)} MB of CSV`,
  );
  await database.close();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

function idOf(index: number): string {
  return `req_${String(index).padStart(12, "0")}`;
}

/** Writes entries for 50 organizations, 500 keys and 40 models over one year. Each organization has one budget. */
async function seed(database: Database): Promise<void> {
  const { kind } = database;
  const pad = kind === "postgres" ? "lpad(CAST(i AS TEXT), 12, '0')" : "printf('%012d', i)";
  for (let from = 0; from < ROWS; from += ROWS_A_STEP) {
    const to = Math.min(from + ROWS_A_STEP, ROWS) - 1;
    const series =
      kind === "postgres"
        ? `generate_series(CAST(${from} AS BIGINT), ${to}) AS n (i)`
        : `(WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT i FROM n)`;
    await write(
      database,
      `INSERT INTO ledger (id, kind, request_id, organization_id, key_id, model, channel, upstream_model, at, consumed,
          amount, currency, price_source, orphan_cost, budgets, attempts, flags) SELECT 'req_' || ${pad}, 'charge', 'request_' || i, 'org_' || (i % 50), 'key_' || (i % 500),
        'model_' || (i % 40), 'channel', 'upstream', ${START} + i * ${YEAR_MS} / ${ROWS},
        '{"unit":"token","tokens":{"input":120,"output":340},"source":"upstream"}', 1000 + i % 1000, 'USD', 'default', 0,
        '["budget_' || (i % 50) || '"]',
        '[{"channel":"channel","upstreamModel":"upstream","durationMs":512,"outcome":"answered","status":200}]',
        '[]' FROM ${series}`,
      `INSERT INTO ledger_bookings SELECT 'budget_' || (i % 50), 'req_' || ${pad}, 'charge', 1000 + i % 1000 FROM ${series}`,
    );
  }
  const organizations =
    kind === "postgres"
      ? "generate_series(0, 49) AS n (i)"
      : "(WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49) SELECT i FROM n)";
  await write(
    database,
    `INSERT INTO budgets (id, organization_id, amount, period, spent, held, period_start, created_at, revision)
      SELECT 'budget_' || i, 'org_' || i, 1000000000000, 'total',
        (SELECT COALESCE(SUM(amount), 0) FROM ledger_bookings WHERE budget = 'budget_' || i), 0, 0, 0, 0 FROM ${organizations}`,
    `INSERT INTO organizations (id, name, currency, is_disabled, models, settings, limits, routes, created_at, revision)
      SELECT 'org_' || i, 'name', 'USD', 0, '"*"', '{}', '{}', '{}', 0, 0 FROM ${organizations}`,
    `INSERT INTO api_keys (id, organization_id, name, hint, hash, scopes, models, limits, is_disabled, created_at, revision)
      VALUES ('key_77', 'org_27', 'name', 'gk_', 'hash', '[]', '"*"', '{}', 0, 0, 0)`,
    "ANALYZE",
  );
}

async function write(database: Database, ...statements: string[]): Promise<void> {
  await database.begin(async (sql) => {
    if (database.kind === "postgres") await sql`SET LOCAL statement_timeout = 0`;
    for (const statement of statements) await sql.unsafe(statement);
  }, SEED_TIMEOUT_MS);
}
