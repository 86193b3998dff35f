/**
 * Measures the budget store with different numbers of budgets: `bun bench/budgets.ts [budgets…]`. The default is 100,
 * 10,000 and 100,000. One process has a lease on every budget. PostgreSQL is measured only if installed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerEntry } from "../src/domain/ledger.ts";
import { openStores, type Stores } from "../src/storage/index.ts";
import { findPostgres, startPostgres } from "../test/support/postgres.ts";

const PROCESS = "proc_bench";
const ROUNDS = 100;
const ENTRIES_A_BATCH = 100;
const SETUP_TIMEOUT_MS = 10 * 60_000;

/** Times are in milliseconds: medians of 100 calls, or the duration of one call for all leases. */
interface Row {
  database: string;
  budgets: number;
  take: string;
  "post 100 charges": string;
  contended: string;
  "renew all": string;
  "release all": string;
}

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 10_000, 100_000];
const rows: Row[] = [];
const folder = mkdtempSync(join(tmpdir(), "gateway-bench-"));
try {
  for (const count of counts) rows.push(await measure("SQLite", join(folder, `${count}.sqlite`), count));
  const postgres = findPostgres();
  if ("folder" in postgres) {
    const server = await startPostgres(postgres.folder);
    try {
      for (const count of counts)
        rows.push(await measure("PostgreSQL", await server.createDatabase(), count));
    } finally {
      await server.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(name: string, location: string, count: number): Promise<Row> {
  const stores = await openStores(location);
  try {
    await prepare(stores, count);
    const { leases, ledger } = stores;
    const ids = Array.from({ length: count }, (_, index) => idOf(index));
    let next = 0;
    const someId = () => idOf((next += 7919) % count);
    const take = await median(() => leases.take(PROCESS, [{ budget: someId(), needed: 1n, wanted: 10n }]));
    const post = await median(() =>
      ledger.post(
        PROCESS,
        Array.from({ length: ENTRIES_A_BATCH }, () => charge(`entry_${(next += 1)}`, someId())),
      ),
    );
    const contended = await median(() => leases.contended(PROCESS));
    const renew = await timeOf(() => leases.renew(PROCESS, ids));
    const release = await timeOf(() => leases.release(PROCESS));
    return {
      database: name,
      budgets: count,
      take: take.toFixed(2),
      "post 100 charges": post.toFixed(2),
      contended: contended.toFixed(2),
      "renew all": renew.toFixed(0),
      "release all": release.toFixed(0),
    };
  } finally {
    await stores.database.close();
  }
}

async function prepare({ database }: Stores, count: number): Promise<void> {
  await database.begin(async (sql) => {
    await sql`INSERT INTO budgets (id, organization_id, amount, period, spent, held, period_start, created_at, revision)
      WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})
      SELECT 'budget_' || n, 'bench', 1000000000, 'total', 0, 1000, 0, 0, 0 FROM numbers`;
    await sql`INSERT INTO leases (lease, budget, amount, drawn, expires_at)
      SELECT ${PROCESS}, id, 1000, 1000, ${Date.now() + SETUP_TIMEOUT_MS} FROM budgets`;
  }, SETUP_TIMEOUT_MS);
  if (database.kind === "postgres") await database.read((sql) => sql`ANALYZE`, SETUP_TIMEOUT_MS);
}

function idOf(index: number): string {
  return `budget_${index}`;
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timeOf(work));
  times.sort((one, other) => one - other);
  return times[ROUNDS / 2] ?? 0;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function charge(id: string, budget: string): LedgerEntry {
  return {
    id,
    kind: "charge",
    requestId: id,
    organizationId: "bench",
    keyId: "key",
    model: "model",
    channel: "channel",
    upstreamModel: "model",
    at: Date.now(),
    usage: null,
    amount: 1n,
    currency: "USD",
    priceSource: "default",
    orphanCost: 0n,
    budgets: [budget],
    attempts: [],
    flags: [],
  };
}
