import type { BudgetStore, BudgetWish } from "../gateway/ports.ts";
import { systemClock, type Clock } from "../lib/clock.ts";
import type { Nanos } from "../lib/money.ts";
import type { Whole } from "./columns.ts";
import {
  lockBudgets,
  lockSlices,
  saveBudgets,
  shrinkSlice,
  storeTime,
  type LockedBudget,
} from "./locked-budgets.ts";
import type { Database, Sql } from "./sql.ts";
import { sliceWatch } from "./slice-watch.ts";

/**
 * Budgets and the slices that processes hold of them. `spent + held` never passes the amount by a taking, and
 * `held` is always the sum of the slices.
 */
export interface LeaseStore extends BudgetStore {
  /** Returns all of a lease's slices at once: its process ends, or is known to have ended. */
  release(lease: string): Promise<void>;
  /**
   * Returns the slices of leases that ran out, each exactly once; answers how many. To be called every half
   * minute or so: a slice is returned by the second call that finds it expired and not renewed in between.
   */
  sweep(): Promise<number>;
}

/** How long slices last without renewal, in the store's time. */
export const LEASE_TTL_MS = 15 * 60_000;

/** A request waits for a taking, so it ends sooner than other calls. */
const TAKE_TIMEOUT_MS = 1000;

export function leaseStore(database: Database, clock: Clock = systemClock): LeaseStore {
  const { kind } = database;
  const watch = sliceWatch(clock);
  return {
    take: (lease, wishes) =>
      database.begin((sql) => take(kind, sql, lease, mergeWishes(wishes)), TAKE_TIMEOUT_MS),
    giveBack: (lease, amounts) =>
      database.begin(async (sql) => {
        const budgets = await lockBudgets(kind, sql, amounts.keys());
        const slices = await lockSlices(kind, sql, lease);
        for (const budget of budgets.values()) {
          await shrinkSlice(sql, lease, budget, slices.get(budget.id) ?? 0n, amounts.get(budget.id) ?? 0n);
        }
        await saveBudgets(sql, budgets.values());
      }),
    renew: (lease) =>
      database.begin(async (sql) => {
        await lockSlices(kind, sql, lease);
        const rows = await sql<{ budget: string }[]>`
          UPDATE leases SET expires_at = ${expiry(kind, sql)} WHERE lease = ${lease} RETURNING budget`;
        return new Set(rows.map((row) => row.budget));
      }),
    release: (lease) =>
      database.begin(async (sql) => {
        const slices = await sql<SliceRow[]>`SELECT * FROM leases WHERE lease = ${lease}`;
        await returnSlices(kind, sql, slices);
      }),
    async sweep() {
      const candidates = await database.read(
        (sql) => sql<SliceRow[]>`SELECT lease, budget, amount, expires_at, ${storeTime(kind, sql)} AS now
          FROM leases WHERE expires_at < ${storeTime(kind, sql)} + ${watch.headStartMs} LIMIT ${MOST_SWEPT}`,
      );
      const ripe = watch.ripe(candidates);
      return ripe.length === 0 ? 0 : await database.begin((sql) => returnSlices(kind, sql, ripe));
    },
  };
}

const MOST_SWEPT = 1000;

export interface SliceRow {
  lease: string;
  budget: string;
  expires_at: Whole;
  /** The store's time when the row was read. */
  now?: Whole;
}

async function take(kind: Database["kind"], sql: Sql, lease: string, wishes: readonly BudgetWish[]) {
  const budgets = await lockBudgets(
    kind,
    sql,
    wishes.map((wish) => wish.budget),
  );
  const granted = new Map<string, Nanos>();
  const left = new Map<string, Nanos>();
  for (const { budget: id, needed, wanted } of wishes) {
    const budget = budgets.get(id);
    const rest = budget ? budget.amount - budget.spent - budget.held : wanted;
    if (budget && rest < needed) return { exhausted: id };
    const amount = smaller(wanted > needed ? wanted : needed, rest);
    granted.set(id, amount);
    left.set(id, rest - amount);
    if (budget) budget.held += amount;
  }
  for (const budget of budgets.values()) {
    await growSlice(kind, sql, lease, budget, granted.get(budget.id) ?? 0n);
  }
  await saveBudgets(sql, budgets.values());
  return { granted, left };
}

async function growSlice(
  kind: Database["kind"],
  sql: Sql,
  lease: string,
  budget: LockedBudget,
  amount: Nanos,
): Promise<void> {
  await sql`INSERT INTO leases (lease, budget, amount, expires_at)
    VALUES (${lease}, ${budget.id}, ${amount}, ${expiry(kind, sql)})
    ON CONFLICT (lease, budget)
    DO UPDATE SET amount = leases.amount + excluded.amount, expires_at = excluded.expires_at`;
}

/** Deleting a slice tells whether it was still there as it was read, so none is returned twice. */
async function returnSlices(kind: Database["kind"], sql: Sql, slices: readonly SliceRow[]): Promise<number> {
  const budgets = await lockBudgets(
    kind,
    sql,
    slices.map((slice) => slice.budget),
  );
  let returned = 0;
  for (const { lease, budget: id, expires_at } of slices.toSorted(byBudget)) {
    const rows = await sql<{ amount: bigint }[]>`DELETE FROM leases
      WHERE lease = ${lease} AND budget = ${id} AND expires_at = ${expires_at} RETURNING amount`;
    const budget = budgets.get(id);
    for (const { amount } of rows) {
      returned += 1;
      if (budget) budget.held = amount < budget.held ? budget.held - amount : 0n;
    }
  }
  await saveBudgets(sql, budgets.values());
  return returned;
}

function expiry(kind: Database["kind"], sql: Sql) {
  return sql`${storeTime(kind, sql)} + ${LEASE_TTL_MS}`;
}

/** One wish a budget: two for the same one would be granted from the same rest. */
function mergeWishes(wishes: readonly BudgetWish[]): BudgetWish[] {
  const merged = new Map<string, BudgetWish>();
  for (const wish of wishes) {
    const other = merged.get(wish.budget);
    const needed = wish.needed + (other?.needed ?? 0n);
    const wanted = wish.wanted + (other?.wanted ?? 0n);
    merged.set(wish.budget, { budget: wish.budget, needed, wanted });
  }
  return [...merged.values()];
}

function smaller(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

function byBudget(one: SliceRow, other: SliceRow): number {
  return one.budget < other.budget ? -1 : Number(one.budget > other.budget);
}
