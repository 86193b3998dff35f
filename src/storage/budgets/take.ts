import type { BudgetRequest } from "../../gateway/metering/stores.ts";
import type { Nanos } from "../../lib/money.ts";
import { jsonRows, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { lockBudgets, lockLeases, saveBudgets, type LockedBudget } from "./locked-budgets.ts";

/** Time for which a lease lasts without renewal, by the store's clock. */
const LEASE_TTL_MS = 15 * 60_000;

/**
 * Time for which a budget counts as wanted after a process could not get money from it. This time is extended at most
 * every `WANTED_AGAIN_MS`.
 */
export const WANTED_MS = 2000;
const WANTED_AGAIN_MS = 250;

/**
 * Implements `BudgetStore.take`: moves money of all requested budgets into a process's leases, or of none. Two requests
 * for one budget are merged; otherwise both would get the same remaining amount.
 */
export async function take(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  requests: readonly BudgetRequest[],
) {
  const merged = mergeRequests(requests);
  const budgets = await lockBudgets(
    kind,
    sql,
    merged.map((request) => request.budget),
  );
  const granted = new Map<string, Nanos>();
  const left = new Map<string, Nanos>();
  for (const { budget: id, needed, wanted } of merged) {
    const budget = budgets.get(id);
    if (!budget) continue;
    const rest = budget.amount - budget.spent - budget.held;
    if (rest < needed) {
      const own = (await lockLeases(kind, sql, processId, [id])).get(id)?.amount ?? 0n;
      const heldByOthers = budget.held - own;
      if (heldByOthers > 0n && rest + heldByOthers >= needed) await markWanted(sql, budget);
      return { exhausted: id, left: rest, heldByOthers };
    }
    const amount = smaller(wanted > needed ? wanted : needed, rest);
    granted.set(id, amount);
    left.set(id, rest - amount);
    budget.held += amount;
  }
  await growLeases(kind, sql, processId, granted);
  await saveBudgets(kind, sql, budgets.values());
  return { granted, left };
}

/** Marks a budget as wanted, for the processes that have leases on it. */
async function markWanted(sql: Sql, { id, wantedUntil, now }: LockedBudget): Promise<void> {
  const restMs = wantedUntil - now;
  if (restMs > WANTED_MS || restMs < WANTED_MS - WANTED_AGAIN_MS)
    await sql`UPDATE budgets SET wanted_until = ${now + WANTED_MS} WHERE id = ${id}`;
}

async function growLeases(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  granted: ReadonlyMap<string, Nanos>,
): Promise<void> {
  if (granted.size === 0) return;
  await sql`INSERT INTO leases (lease, budget, amount, drawn, expires_at)
    SELECT CAST(${processId} AS TEXT), value ->> 0, CAST(value ->> 1 AS BIGINT), CAST(value ->> 1 AS BIGINT),
      ${expiry(kind, sql)} FROM ${jsonRows(kind, sql, [...granted])} WHERE true
    ON CONFLICT (lease, budget) DO UPDATE SET amount = leases.amount + excluded.amount,
      drawn = leases.drawn + excluded.drawn, expires_at = excluded.expires_at`;
}

/** Returns the end of a lease that is renewed now, as an SQL expression. */
export function expiry(kind: Database["kind"], sql: Sql) {
  return sql`${storeTime(kind, sql)} + ${LEASE_TTL_MS}`;
}

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
