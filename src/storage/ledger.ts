import type { LedgerEntry } from "../domain/ledger.ts";
import type { Nanos } from "../lib/money.ts";
import { firstOf } from "./columns.ts";
import { readEntryRow, writeEntryRow, type LedgerRow } from "./ledger-row.ts";
import { lockBudgets, lockSlices, saveBudgets, shrinkSlice } from "./locked-budgets.ts";
import type { Database, Sql } from "./sql.ts";

/** The ledger: rows are only ever inserted, each once. */
export interface LedgerStore {
  /**
   * Books entries in one transaction: those that are new add to their budgets' `spent`, and charges leave `held`
   * and the lease's slices (only `spent` moves when the lease is gone). Posting again, in any order and grouping,
   * changes nothing. Answers how many were new.
   */
  post(lease: string, entries: readonly LedgerEntry[]): Promise<number>;
  find(id: string, kind: LedgerEntry["kind"]): Promise<LedgerEntry | null>;
  /** Newest first. `from` is inclusive, `to` exclusive, Unix milliseconds. */
  list(filter: LedgerFilter): Promise<LedgerEntry[]>;
  /** What all entries booked on a budget come to, over all its periods. */
  sumOfBudget(budget: string): Promise<Nanos>;
}

export interface LedgerFilter {
  organizationId?: string;
  from?: number;
  to?: number;
  limit: number;
}

export function ledgerStore(database: Database): LedgerStore {
  return {
    async post(lease, entries) {
      if (entries.length === 0) return 0;
      return await database.begin(async (sql) => {
        const fresh = await insertEntries(sql, entries);
        await bookEntries(database.kind, sql, lease, fresh);
        return fresh.length;
      });
    },
    async find(id, kind) {
      const rows = await database.read(
        (sql) => sql<LedgerRow[]>`SELECT * FROM ledger WHERE id = ${id} AND kind = ${kind}`,
      );
      const row = firstOf(rows);
      return row && readEntryRow(row);
    },
    async list({ organizationId, from, to, limit }) {
      const rows = await database.read(
        (sql) => sql<LedgerRow[]>`SELECT * FROM ledger WHERE 1 = 1
          ${organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId}`}
          ${from === undefined ? sql`` : sql`AND at >= ${from}`}
          ${to === undefined ? sql`` : sql`AND at < ${to}`}
          ORDER BY at DESC, id DESC, kind LIMIT ${limit}`,
      );
      return rows.map(readEntryRow);
    },
    async sumOfBudget(budget) {
      const rows = await database.read(
        (sql) => sql<{ sum: string | null }[]>`
          SELECT CAST(SUM(amount) AS TEXT) AS sum FROM ledger_bookings WHERE budget = ${budget}`,
      );
      return BigInt(firstOf(rows)?.sum ?? 0);
    },
  };
}

/** Most rows of one insert: a statement takes some thirty thousand parameters on SQLite. */
const MOST_ROWS = 256;

/** Inserts in the order of ids, in which two transactions with the same entries cannot block each other. */
async function insertEntries(sql: Sql, entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
  const byName = new Map<string, LedgerEntry>();
  for (const entry of entries) if (!byName.has(nameOf(entry))) byName.set(nameOf(entry), entry);
  const sorted = [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
  const fresh: LedgerEntry[] = [];
  for (const group of groupsOf(sorted)) {
    const rows = await sql<{ id: string; kind: string }[]>`
      INSERT INTO ledger ${sql(group.map(writeEntryRow))} ON CONFLICT (id, kind) DO NOTHING RETURNING id, kind`;
    for (const row of rows) {
      const entry = byName.get(nameOf(row));
      if (entry) fresh.push(entry);
    }
  }
  return fresh;
}

async function bookEntries(
  kind: Database["kind"],
  sql: Sql,
  lease: string,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const bookings = entries.flatMap((entry) =>
    [...new Set(entry.budgets)].map((budget) => ({
      budget,
      entry: entry.id,
      kind: entry.kind,
      amount: entry.amount,
    })),
  );
  if (bookings.length === 0) return;
  for (const group of groupsOf(bookings)) await sql`INSERT INTO ledger_bookings ${sql(group)}`;
  const budgets = await lockBudgets(
    kind,
    sql,
    bookings.map((booking) => booking.budget),
  );
  const slices = await lockSlices(kind, sql, lease);
  const charged = new Map<string, Nanos>();
  for (const { budget: id, kind: entryKind, amount } of bookings) {
    const budget = budgets.get(id);
    if (budget) budget.spent += amount;
    if (entryKind === "charge") charged.set(id, (charged.get(id) ?? 0n) + amount);
  }
  for (const budget of budgets.values()) {
    await shrinkSlice(sql, lease, budget, slices.get(budget.id) ?? 0n, charged.get(budget.id) ?? 0n);
  }
  await saveBudgets(sql, budgets.values());
}

/** Groups whose sizes are powers of two, so that few different statements are prepared. */
function groupsOf<T>(items: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (let start = 0; start < items.length;) {
    const rest = items.length - start;
    const size = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rest)));
    groups.push(items.slice(start, start + size));
    start += size;
  }
  return groups;
}

function nameOf(entry: { id: string; kind: string }): string {
  return `${entry.id} ${entry.kind}`;
}
