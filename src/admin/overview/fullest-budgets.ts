import { periodEnd } from "../../domain/calendar.ts";
import { formatNanos } from "../../lib/money.ts";
import type { z } from "zod";
import { forecast } from "../budgets/budgets.ts";
import type { AdminContext } from "../context.ts";
import { isoTime } from "../output.ts";
import { shareOf } from "../usage/totals.ts";
import type { budgetUseSchema } from "../usage/schema.ts";
import type { BudgetRecord } from "../budgets/schema.ts";

/** Returns the budgets with the largest spent share, with forecasts for the ends of their periods. */
export async function fullestBudgets(
  { store }: AdminContext,
  organizationId: string | undefined,
  limit: number,
): Promise<z.input<typeof budgetUseSchema>[]> {
  const budgets = (await store.budgets.list(organizationId))
    .toSorted((one, other) => shareOf(other.spent, other.amount) - shareOf(one.spent, one.amount))
    .slice(0, limit);
  return await Promise.all(
    budgets.map(async (budget) => {
      const organization = await store.organizations.get(budget.organizationId);
      const key = budget.keyId === null ? null : await store.keys.get(budget.keyId);
      return viewOf(budget, organization?.currency ?? "", key?.name ?? null);
    }),
  );
}

function viewOf(
  budget: BudgetRecord,
  currency: string,
  keyName: string | null,
): z.input<typeof budgetUseSchema> {
  const { id, organizationId, keyId, amount, spent, held, period } = budget;
  const end = periodEnd(period, budget.periodStart);
  const expected = forecast(budget);
  return {
    id,
    organizationId,
    keyId,
    keyName,
    amount: formatNanos(amount),
    spent: formatNanos(spent),
    held: formatNanos(held),
    left: formatNanos(amount - spent),
    period,
    periodStart: isoTime(budget.periodStart),
    periodEnd: end === null ? null : isoTime(end),
    currency,
    forecast: expected === null ? null : formatNanos(expected),
    lastsUntil: end === null ? null : lastsUntil(budget, end),
  };
}

/** Returns the time at which a budget will be used up at the current pace; null when it lasts for the period. */
function lastsUntil({ amount, spent, periodStart, readAt: now }: BudgetRecord, end: number): string | null {
  if (spent >= amount) return isoTime(now);
  if (spent <= 0n) return null;
  const at = periodStart + Number((amount * BigInt(Math.max(1, now - periodStart))) / spent);
  return at < end ? isoTime(at) : null;
}
