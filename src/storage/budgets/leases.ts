import type { BudgetStore, BudgetRequest } from "../../gateway/ports.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Integer } from "../database/columns.ts";
import {
  forUpdate,
  lockBudgets,
  lockLeases,
  returnFromLease,
  saveBudgets,
  storeTime,
  type LockedBudget,
} from "./locked-budgets.ts";
import type { Database, Sql } from "../database/sql.ts";
import { leaseExpiry } from "./lease-expiry.ts";

/**
 * Budgets and the slices that processes hold of them. `spent + held` never passes the amount by a taking, and
 * `held` is always the sum of the slices. A slice is what its lease has drawn less what was charged since.
 */
export interface LeaseStore extends BudgetStore {
  /** Returns all of a lease's slices at once: its process ends, or is known to have ended. */
  release(processId: string): Promise<void>;
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
  const watch = leaseExpiry(clock);
  return {
    take: (processId, requests) =>
      database.begin((sql) => take(kind, sql, processId, mergeRequests(requests)), TAKE_TIMEOUT_MS),
    giveBack: (processId, amounts) =>
      database.begin(async (sql) => {
        const budgets = await lockBudgets(kind, sql, amounts.keys());
        const leases = await lockLeases(kind, sql, processId);
        for (const budget of budgets.values()) {
          await returnFromLease(
            sql,
            processId,
            budget,
            leases.get(budget.id) ?? 0n,
            amounts.get(budget.id) ?? 0n,
          );
        }
        await saveBudgets(sql, budgets.values());
      }),
    renew: (processId) =>
      database.begin(async (sql) => {
        await lockLeases(kind, sql, processId);
        const rows = await sql<{ budget: string; drawn: bigint }[]>`
          UPDATE leases SET expires_at = ${expiry(kind, sql)} WHERE lease = ${processId} RETURNING budget, drawn`;
        return new Map(rows.map((row) => [row.budget, row.drawn]));
      }),
    async contended(processId) {
      const rows = await database.read(
        (sql) => sql<
          { budget: string }[]
        >`SELECT leases.budget FROM leases JOIN budgets ON budgets.id = leases.budget
          WHERE leases.lease = ${processId} AND leases.amount > 0
            AND budgets.wanted_until BETWEEN ${storeTime(kind, sql)} AND ${storeTime(kind, sql)} + ${WANTED_MS}`,
      );
      return new Set(rows.map((row) => row.budget));
    },
    release: (processId) =>
      database.begin(async (sql) => {
        const rows = await sql<{ budget: string }[]>`SELECT budget FROM leases WHERE lease = ${processId}`;
        const budgets = await lockBudgets(
          kind,
          sql,
          rows.map((row) => row.budget),
        );
        const leases = await lockLeases(kind, sql, processId);
        for (const budget of budgets.values()) {
          const lease = leases.get(budget.id) ?? 0n;
          await returnFromLease(sql, processId, budget, lease, lease);
        }
        await saveBudgets(sql, budgets.values());
        // A slice that was drawn meanwhile stays, for the sweep to return.
        await sql`DELETE FROM leases WHERE lease = ${processId}
          AND (amount = 0 OR budget NOT IN (SELECT id FROM budgets))`;
      }),
    async sweep() {
      const candidates = await database.read(
        (sql) => sql<LeaseRow[]>`SELECT lease, budget, expires_at, ${storeTime(kind, sql)} AS now
          FROM leases WHERE amount > 0 AND expires_at < ${storeTime(kind, sql)} + ${watch.headStartMs}
          LIMIT ${MAX_SWEPT}`,
      );
      const ripe = watch.ripe(candidates);
      if (ripe.length === 0) return 0;
      return await database.begin(async (sql) => {
        const returned = await returnLeases(kind, sql, ripe);
        await sql`DELETE FROM leases WHERE amount = 0 AND expires_at < ${storeTime(kind, sql)} - ${FORGOTTEN_MS}`;
        return returned;
      });
    },
  };
}

/** An empty slice stays this long after its expiry, so that a process cut off meanwhile learns of its end. */
const FORGOTTEN_MS = 24 * 60 * 60_000;

/** How long a budget counts as wanted after somebody missed money of it, and how often that is written. */
const WANTED_MS = 2000;
const WANTED_AGAIN_MS = 250;

const MAX_SWEPT = 1000;

export interface LeaseRow {
  /** Id of the process. */
  lease: string;
  budget: string;
  expires_at: Integer;
  /** The store's time when the row was read. */
  now?: Integer;
}

async function take(kind: Database["kind"], sql: Sql, processId: string, requests: readonly BudgetRequest[]) {
  const budgets = await lockBudgets(
    kind,
    sql,
    requests.map((request) => request.budget),
  );
  const granted = new Map<string, Nanos>();
  const left = new Map<string, Nanos>();
  for (const { budget: id, needed, wanted } of requests) {
    const budget = budgets.get(id);
    if (!budget) continue;
    const rest = budget.amount - budget.spent - budget.held;
    if (rest < needed)
      return { exhausted: id, isHeldByOthers: await askOthers(kind, sql, processId, budget) };
    const amount = smaller(wanted > needed ? wanted : needed, rest);
    granted.set(id, amount);
    left.set(id, rest - amount);
    budget.held += amount;
  }
  for (const budget of budgets.values()) {
    await growLease(kind, sql, processId, budget, granted.get(budget.id) ?? 0n);
  }
  await saveBudgets(sql, budgets.values());
  return { granted, left };
}

/** Marks the budget as wanted when others hold some of it, and answers whether they do. */
async function askOthers(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  { id, held, wantedUntil, now }: LockedBudget,
): Promise<boolean> {
  const own = (await lockLeases(kind, sql, processId)).get(id) ?? 0n;
  if (held <= own) return false;
  const restMs = wantedUntil - now;
  if (restMs > WANTED_MS || restMs < WANTED_MS - WANTED_AGAIN_MS) {
    await sql`UPDATE budgets SET wanted_until = ${now + WANTED_MS} WHERE id = ${id}`;
  }
  return true;
}

async function growLease(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  budget: LockedBudget,
  amount: Nanos,
): Promise<void> {
  await sql`INSERT INTO leases (lease, budget, amount, drawn, expires_at)
    VALUES (${processId}, ${budget.id}, ${amount}, ${amount}, ${expiry(kind, sql)})
    ON CONFLICT (lease, budget) DO UPDATE SET amount = leases.amount + excluded.amount,
      drawn = leases.drawn + excluded.drawn, expires_at = excluded.expires_at`;
}

/**
 * Empties slices that are still there as they were read, so none is returned twice. The emptied row stays and says
 * what is left of what was drawn, for a process that was only cut off.
 */
async function returnLeases(kind: Database["kind"], sql: Sql, leases: readonly LeaseRow[]): Promise<number> {
  const budgets = await lockBudgets(
    kind,
    sql,
    leases.map((lease) => lease.budget),
  );
  let returned = 0;
  for (const { lease: processId, budget: id, expires_at } of leases.toSorted(byBudget)) {
    const rows = await sql<{ amount: bigint }[]>`SELECT amount FROM leases
      WHERE lease = ${processId} AND budget = ${id} AND expires_at = ${expires_at} AND amount > 0 ${forUpdate(kind, sql)}`;
    const budget = budgets.get(id);
    for (const { amount } of rows) {
      returned += 1;
      await sql`UPDATE leases SET amount = 0, drawn = drawn - ${amount} WHERE lease = ${processId} AND budget = ${id}`;
      if (budget) budget.held -= amount < budget.held ? amount : budget.held;
    }
  }
  await saveBudgets(sql, budgets.values());
  return returned;
}

function expiry(kind: Database["kind"], sql: Sql) {
  return sql`${storeTime(kind, sql)} + ${LEASE_TTL_MS}`;
}

/** One wish a budget: two for the same one would be granted from the same rest. */
function mergeRequests(requests: readonly BudgetRequest[]): BudgetRequest[] {
  const merged = new Map<string, BudgetRequest>();
  for (const request of requests) {
    const other = merged.get(request.budget);
    const needed = request.needed + (other?.needed ?? 0n);
    const wanted = request.wanted + (other?.wanted ?? 0n);
    merged.set(request.budget, { budget: request.budget, needed, wanted });
  }
  return [...merged.values()];
}

function smaller(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

function byBudget(one: LeaseRow, other: LeaseRow): number {
  return one.budget < other.budget ? -1 : Number(one.budget > other.budget);
}
