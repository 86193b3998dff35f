import type { AlertFacts, WatchedBudget } from "../../domain/alert.ts";
import type { BudgetLevel } from "../../domain/budget-level.ts";
import { ATTEMPT_ROUTE } from "../../domain/traffic.ts";
import { BUDGET, inRunningPeriod } from "../budgets/locked-budgets.ts";
import { type Integer, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { table, text, type Row } from "../database/table.ts";

const MINUTE_MS = 60_000;

/**
 * Reads the facts that alert rules are compared with. If `organizationId` is null, reads the facts of the installation.
 * Never reads the ledger itself.
 */
export function readFacts(
  database: Database,
  organizationId: string | null,
  minutes: number,
): Promise<Omit<AlertFacts, "causes">> {
  return database.read(async (sql) => {
    const [clock] = await sql<{ now: Integer }[]>`SELECT ${storeTime(database.kind, sql)} AS now`;
    const now = Number(clock?.now);
    return {
      now,
      budgets: await readBudgets(sql, organizationId, now),
      minutes: minutes === 0 ? [] : await readMinutes(sql, organizationId, now - (minutes + 1) * MINUTE_MS),
      ejections: await readEjections(sql, organizationId),
    };
  });
}

const watched = table<WatchedBudget & BudgetLevel>("budgets", {
  id: BUDGET.id,
  owner: text(),
  amount: BUDGET.amount,
  spent: BUDGET.spent,
  currency: text(),
  period: BUDGET.period,
  periodStart: BUDGET.periodStart,
  nearSince: BUDGET.nearSince,
  spentSince: BUDGET.spentSince,
});

async function readBudgets(
  sql: Sql,
  organizationId: string | null,
  now: number,
): Promise<AlertFacts["budgets"]> {
  const rows = await sql<Row[]>`
    SELECT budgets.id, COALESCE(api_keys.name, organizations.name) AS owner, amount, spent, currency, period,
      period_start, near_since, spent_since FROM budgets JOIN organizations ON organizations.id = budgets.organization_id
      LEFT JOIN api_keys ON api_keys.id = budgets.key_id
    ${organizationId === null ? sql`` : sql`WHERE budgets.organization_id = ${organizationId}`} ORDER BY budgets.id`;
  return rows.map((row) => {
    const budget = watched.read(row);
    return Object.assign(budget, inRunningPeriod(budget, now));
  });
}

/** Reads requests by minute. Callers' mistakes do not count as failed, because they must not raise an alert. */
async function readMinutes(
  sql: Sql,
  organizationId: string | null,
  since: number,
): Promise<AlertFacts["minutes"]> {
  const rows = await sql<{ at: Integer; requests: Integer; failed: Integer }[]>`
    SELECT at, SUM(requests) AS requests, SUM(CASE WHEN status = 5 THEN requests ELSE 0 END) AS failed
    FROM traffic_minutes
    WHERE at >= ${since} ${organizationId === null ? sql`` : sql`AND organization_id = ${organizationId}`} AND route <> ${ATTEMPT_ROUTE}
    GROUP BY at ORDER BY at DESC`;
  return rows.map(({ at, requests, failed }) => ({
    at: Number(at),
    requests: Number(requests),
    failed: Number(failed),
  }));
}

/**
 * Returns the ejections, each with the earliest start that any process reported, because a process that has just
 * started does not know the start of an earlier ejection.
 */
async function readEjections(sql: Sql, organizationId: string | null): Promise<AlertFacts["ejections"]> {
  const rows = await sql<{ target: string; reason: string; since: Integer }[]>`
    SELECT target, MIN(reason) AS reason, MIN(since) AS since FROM ejected_targets
    ${organizationId === null ? sql`` : sql`WHERE organization_id = '' OR organization_id = ${organizationId}`} GROUP BY target ORDER BY target`;
  return rows.map(({ target, reason, since }) => ({ target, reason, since: Number(since) }));
}
