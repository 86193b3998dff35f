import type { Nanos } from "../../lib/money.ts";
import { firstOf, forUpdate, jsonRows, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { money, nullable, table, text, time, type Columns, type Row } from "../database/table.ts";
import { type BudgetLevel, levelOf } from "../../domain/budget-level.ts";
import { type Period, runningPeriod } from "../../domain/calendar.ts";

/**
 * A budget row that stays locked for the rest of a transaction. Rows are locked in the order of their ids, so that
 * transactions cannot deadlock. The running period replaces a period that has ended, and also a period that a wrong
 * clock began too early.
 */
export interface LockedBudget extends BudgetLevel {
  id: string;
  organizationId: string;
  amount: Nanos;
  period: Period;
  spent: Nanos;
  held: Nanos;
  /** Unix milliseconds. */
  periodStart: number;
  /**
   * Time until which the budget counts as wanted by a process (`WANTED_MS`). `now` is the time of the lock. Both are
   * Unix milliseconds by the store's clock.
   */
  wantedUntil: number;
  now: number;
}

type Budget = Omit<LockedBudget, "wantedUntil" | "now">;

/** Columns of a budget that transactions on leases and administration need. */
export const BUDGET: Columns<Budget> = {
  id: text(),
  organizationId: text(),
  amount: money(),
  period: text(),
  spent: money(),
  held: money(),
  periodStart: time(),
  nearSince: nullable(time()),
  spentSince: nullable(time()),
};

const budgets = table<Omit<LockedBudget, "now">>("budgets", { ...BUDGET, wantedUntil: time() });

export async function lockBudgets(
  kind: Database["kind"],
  sql: Sql,
  ids: Iterable<string>,
): Promise<Map<string, LockedBudget>> {
  const tuples = tuplesOf(ids);
  if (tuples.length === 0) return new Map();
  const rows = await sql<Row[]>`SELECT ${sql.unsafe(budgets.columns)}, ${storeTime(kind, sql)} AS now
    FROM budgets WHERE id IN (SELECT value ->> 0 FROM ${jsonRows(kind, sql, tuples)})
    ORDER BY id ${forUpdate(kind, sql)}`;
  const locked = new Map<string, LockedBudget>();
  for (const row of rows) {
    const stored = budgets.read(row);
    const now = Number(row["now"]);
    const budget = { ...stored, ...inRunningPeriod(stored, now), now };
    const wrongStart = stored.periodStart;
    if (budget.periodStart < wrongStart) budget.spent = await correctPeriod(sql, { ...budget, wrongStart });
    locked.set(budget.id, budget);
  }
  return locked;
}

/** Writes changed budgets back to the database, in one statement. */
export async function saveBudgets(
  kind: Database["kind"],
  sql: Sql,
  budgets: Iterable<LockedBudget>,
): Promise<void> {
  const tuples = Array.from(budgets, (budget) => {
    const { nearSince, spentSince } = levelOf(budget, budget, budget.now);
    return [budget.id, budget.spent, budget.held, budget.periodStart, nearSince, spentSince];
  });
  if (tuples.length === 0) return;
  await sql`UPDATE budgets SET spent = changed.spent, held = changed.held, period_start = changed.period_start,
      near_since = changed.near_since, spent_since = changed.spent_since
    FROM (SELECT value ->> 0 AS id, CAST(value ->> 1 AS BIGINT) AS spent, CAST(value ->> 2 AS BIGINT) AS held,
      CAST(value ->> 3 AS BIGINT) AS period_start, CAST(value ->> 4 AS BIGINT) AS near_since,
      CAST(value ->> 5 AS BIGINT) AS spent_since FROM ${jsonRows(kind, sql, tuples)}) AS changed
    WHERE budgets.id = changed.id`;
}

/** The lease that a process or job has on one budget. */
interface LockedLease {
  /** Amount held in the budget: `drawn` minus the charges that were posted. */
  amount: Nanos;
  /** Amount taken from the budget so far, minus the amounts that were given back. */
  drawn: Nanos;
}

/**
 * Locks and returns the leases of a process or job on some budgets, in the order of the budgets. The caller must have
 * locked these budgets.
 */
export async function lockLeases(
  kind: Database["kind"],
  sql: Sql,
  holder: string,
  budgets: Iterable<string>,
): Promise<Map<string, LockedLease>> {
  const rows = await sql<({ budget: string } & LockedLease)[]>`SELECT budget, amount, drawn FROM leases
    WHERE lease = ${holder} AND budget IN (SELECT value ->> 0 FROM ${jsonRows(kind, sql, tuplesOf(budgets))})
    ORDER BY budget ${forUpdate(kind, sql)}`;
  return new Map(rows.map(({ budget, amount, drawn }) => [budget, { amount, drawn }]));
}

/** Writes the changed leases of a transaction to the database, in one statement. */
export async function saveLeases(
  kind: Database["kind"],
  sql: Sql,
  holder: string,
  leases: ReadonlyMap<string, LockedLease>,
): Promise<void> {
  if (leases.size === 0) return;
  // Every tuple contains the holder. With a single parameter for the holder, SQLite would go through all leases of the
  // holder for each tuple.
  const tuples = Array.from(leases, ([budget, { amount, drawn }]) => [holder, budget, amount, drawn]);
  await sql`UPDATE leases SET amount = changed.amount, drawn = changed.drawn
    FROM (SELECT value ->> 0 AS lease, value ->> 1 AS budget, CAST(value ->> 2 AS BIGINT) AS amount,
      CAST(value ->> 3 AS BIGINT) AS drawn FROM ${jsonRows(kind, sql, tuples)}) AS changed
    WHERE leases.lease = changed.lease AND leases.budget = changed.budget`;
}

/**
 * Books a charge on a lease. The part that the lease covers is subtracted from the lease and from `held`. The rest is
 * added to `drawn`, so that `amount` stays equal to `drawn` minus the charges.
 */
export function chargeLease(budget: LockedBudget, lease: LockedLease, charged: Nanos): void {
  const moved = release(budget, lease, charged);
  lease.drawn += charged - moved;
}

/** Moves an amount from a lease back to its budget, but at most the amount of the lease. */
export function returnFromLease(budget: LockedBudget, lease: LockedLease, amount: Nanos): void {
  lease.drawn -= release(budget, lease, amount);
}

/** Takes up to `amount` from a lease and from the budget's `held`. Returns the amount that was taken. */
function release(budget: LockedBudget, lease: LockedLease, amount: Nanos): Nanos {
  const moved = amount < lease.amount ? amount : lease.amount;
  lease.amount -= moved;
  budget.held -= moved < budget.held ? moved : budget.held;
  return moved;
}

/**
 * Returns the period that runs at `now` (by the store's clock), with the budget's spent amount and level in that
 * period. When the stored row belongs to an earlier period, nothing is spent and the budget has no level.
 */
export function inRunningPeriod(
  {
    period,
    spent,
    periodStart: start,
    nearSince,
    spentSince,
  }: Omit<Budget, "id" | "organizationId" | "amount" | "held">,
  now: number,
): Pick<Budget, "spent" | "periodStart" | keyof BudgetLevel> {
  const periodStart = runningPeriod(period, start, now);
  return periodStart > start
    ? { spent: 0n, periodStart, nearSince: null, spentSince: null }
    : { spent, periodStart, nearSince, spentSince };
}

function tuplesOf(ids: Iterable<string>): [string][] {
  return [...new Set(ids)].map((id) => [id]);
}

/** Maximum number of newest entries that a correction reads, so that no request waits long for a correction. */
const MAX_ENTRIES = 10_000;

interface Correction {
  id: string;
  organizationId: string;
  spent: Nanos;
  /** The period start that a wrong clock wrote. `periodStart` is the correct one. Both are Unix milliseconds. */
  wrongStart: number;
  periodStart: number;
}

/**
 * Corrects a locked budget whose period began by a wrong clock. Moves the budget and the bookings of the wrong period
 * to the running period. Returns the amount spent in the running period, including bookings from before the clock went
 * wrong.
 */
async function correctPeriod(
  sql: Sql,
  { id, organizationId, spent, wrongStart, periodStart }: Correction,
): Promise<Nanos> {
  const newest = sql`budget = ${id} AND entry IN (
    SELECT id FROM ledger WHERE organization_id = ${organizationId} ORDER BY at DESC LIMIT ${MAX_ENTRIES})`;
  await sql`UPDATE ledger_bookings SET period_start = ${periodStart}
    WHERE ${newest} AND period_start = ${wrongStart}`;
  const row = firstOf(
    await sql<{ sum: string }[]>`SELECT CAST(COALESCE(SUM(amount), 0) AS TEXT) AS sum FROM ledger_bookings
      WHERE ${newest} AND period_start = ${periodStart}`,
  );
  const booked = BigInt(row?.sum ?? 0);
  const all = booked > spent ? booked : spent;
  await sql`UPDATE budgets SET period_start = ${periodStart}, spent = ${all} WHERE id = ${id}`;
  return all;
}
