import type { Nanos } from "../../lib/money.ts";
import type { Integer } from "../database/columns.ts";
import { runningPeriod, type Period } from "./period.ts";
import type { Database, Sql } from "../database/sql.ts";

/**
 * Budget rows locked for the rest of a transaction, in the order of their ids, so that transactions which take,
 * settle and return never wait for each other in a circle. A period that has changed has been begun anew.
 */
export interface LockedBudget {
  id: string;
  amount: Nanos;
  spent: Nanos;
  held: Nanos;
  period: Period;
  /** Unix milliseconds. */
  periodStart: number;
  /** Until when it is wanted, and the time it was locked; both by the store's clock. Milliseconds. */
  wantedUntil: number;
  now: number;
}

export async function lockBudgets(
  kind: Database["kind"],
  sql: Sql,
  ids: Iterable<string>,
): Promise<Map<string, LockedBudget>> {
  const wanted = [...new Set(ids)].sort();
  if (wanted.length === 0) return new Map();
  const rows = await sql<BudgetRow[]>`
    SELECT id, amount, period, spent, held, period_start, wanted_until, ${storeTime(kind, sql)} AS now
    FROM budgets WHERE id IN ${sql(padded(wanted))} ORDER BY id ${forUpdate(kind, sql)}`;
  return new Map(rows.map((row) => [row.id, readRow(row)]));
}

/** Writes back what a transaction has made of its budgets. */
export async function saveBudgets(sql: Sql, budgets: Iterable<LockedBudget>): Promise<void> {
  await Promise.all(
    Array.from(
      budgets,
      ({ id, spent, held, periodStart }) =>
        sql`UPDATE budgets SET spent = ${spent}, held = ${held}, period_start = ${periodStart} WHERE id = ${id}`,
    ),
  );
}

/** The slices of one lease by budget, locked in the order of their budgets. Lock the budgets first. */
export async function lockLeases(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
): Promise<Map<string, Nanos>> {
  const rows = await sql<{ budget: string; amount: bigint }[]>`
    SELECT budget, amount FROM leases WHERE lease = ${processId} ORDER BY budget ${forUpdate(kind, sql)}`;
  return new Map(rows.map((row) => [row.budget, row.amount]));
}

/**
 * Books a charge on a slice: what the slice has leaves the budget's `held`, and what it lacks counts as drawn from
 * the budget just now, so that a slice is always what was drawn less what was charged.
 */
export async function chargeLease(
  sql: Sql,
  processId: string,
  budget: LockedBudget,
  lease: Nanos,
  charged: Nanos,
): Promise<void> {
  if (charged <= 0n) return;
  const moved = charged < lease ? charged : lease;
  budget.held -= moved < budget.held ? moved : budget.held;
  await sql`UPDATE leases SET amount = ${lease - moved}, drawn = drawn + ${charged - moved}
    WHERE lease = ${processId} AND budget = ${budget.id}`;
}

/** Returns an amount from a slice to its budget, as far as the slice has it. */
export async function returnFromLease(
  sql: Sql,
  processId: string,
  budget: LockedBudget,
  lease: Nanos,
  amount: Nanos,
): Promise<void> {
  const moved = amount < lease ? amount : lease;
  if (moved <= 0n) return;
  budget.held -= moved < budget.held ? moved : budget.held;
  await sql`UPDATE leases SET amount = ${lease - moved}, drawn = drawn - ${moved}
    WHERE lease = ${processId} AND budget = ${budget.id}`;
}

/** The database's own clock as an SQL expression, Unix milliseconds: the one clock that all processes share. */
export function storeTime(kind: Database["kind"], sql: Sql) {
  return kind === "postgres"
    ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
    : sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`;
}

/** SQLite locks the whole database at the beginning of a writing transaction and has no words for rows. */
export function forUpdate(kind: Database["kind"], sql: Sql) {
  return kind === "postgres" ? sql`FOR UPDATE` : sql``;
}

/** The list with its last item repeated up to a power of two, so that few different statements are prepared. */
export function padded(items: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(items.length));
  const last = items.at(-1) ?? "";
  return [...items, ...Array.from({ length: length - items.length }, () => last)];
}

interface BudgetRow {
  id: string;
  amount: bigint;
  period: Period;
  spent: bigint;
  held: bigint;
  period_start: Integer;
  wanted_until: Integer;
  now: Integer;
}

function readRow(row: BudgetRow): LockedBudget {
  const startedAt = Number(row.period_start);
  const now = Number(row.now);
  const { id, amount, held, period } = row;
  const periodStart = runningPeriod(period, startedAt, now);
  const spent = periodStart > startedAt ? 0n : row.spent;
  return { id, amount, spent, held, period, periodStart, wantedUntil: Number(row.wanted_until), now };
}
