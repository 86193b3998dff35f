import type { LedgerEntry } from "../domain/ledger.ts";
import type { Nanos } from "../lib/money.ts";
import { firstOf } from "./columns.ts";
import { readEntryRow, writeEntryRow, type LedgerRow } from "./ledger-row.ts";
import { chargeSlice, lockBudgets, lockSlices, saveBudgets } from "./locked-budgets.ts";
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
        const { count, booked } = await insertEntries(database.kind, sql, entries);
        await bookEntries(database.kind, sql, lease, booked);
        return count;
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

/** Most rows of one insert: few enough that a request never waits for more than a fraction of a millisecond. */
const MOST_ROWS = 32;

/**
 * Inserts in the order of ids, in which two transactions with the same entries cannot block each other.
 * Answers how many were new, and those of them that are booked on a budget.
 */
async function insertEntries(
  kind: Database["kind"],
  sql: Sql,
  entries: readonly LedgerEntry[],
): Promise<{ count: number; booked: LedgerEntry[] }> {
  const byName = new Map<string, LedgerEntry>();
  for (const entry of entries) if (!byName.has(nameOf(entry))) byName.set(nameOf(entry), entry);
  const sorted = [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
  const booked: LedgerEntry[] = [];
  let count = 0;
  for (const group of groupsOf(sorted)) {
    const [text, values] = insertStatement(kind, group.map(writeEntryRow));
    // Which of them are new matters to budgets only, and asking costs as much as inserting.
    const asked = group.some(({ budgets }) => budgets.length > 0) ? `${text} RETURNING id, kind` : text;
    const rows = await sql.unsafe<{ id: string; kind: string }[]>(asked, values);
    count += asked === text ? Number(rows.count) : rows.length;
    for (const row of rows) {
      const entry = byName.get(nameOf(row));
      if (entry) booked.push(entry);
    }
    // SQLite works on this very thread: requests get their turn between the groups.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { count, booked };
}

/** One statement for many rows, its text the same for every group of a size, so that it is prepared once. */
function insertStatement(kind: Database["kind"], rows: readonly LedgerRow[]): [string, unknown[]] {
  const columns = Object.keys(rows[0] ?? {});
  let place = 0;
  const tuple = (): string => `(${columns.map(() => (kind === "sqlite" ? "?" : `$${++place}`)).join(",")})`;
  const tuples = rows.map(tuple).join(",");
  const text = `INSERT INTO ledger (${columns.join(",")}) VALUES ${tuples} ON CONFLICT (id, kind) DO NOTHING`;
  return [text, rows.flatMap((row) => Object.values(row))];
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
    const slice = slices.get(budget.id);
    if (slice !== undefined) await chargeSlice(sql, lease, budget, slice, charged.get(budget.id) ?? 0n);
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
