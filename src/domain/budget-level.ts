import { formatNanos, type Nanos } from "../lib/money.ts";
import type { Period } from "./calendar.ts";

/** Percentage of a budget's amount from which the budget counts as nearly spent. */
export const NEARLY_SPENT_PERCENT = 80;

/** Unix milliseconds at which a budget became nearly spent or spent; null before that, 0 for an unknown time. */
export interface BudgetLevel {
  nearSince: number | null;
  spentSince: number | null;
}

interface SpentBudget {
  amount: Nanos;
  spent: Nanos;
}

/** Returns the level of a budget whose `spent` or `amount` has changed now. A budget of zero has no level. */
export function levelOf(
  { amount, spent }: SpentBudget,
  { nearSince, spentSince }: BudgetLevel,
  now: number,
): BudgetLevel {
  const isAt = (percent: number) => amount > 0n && spent * 100n >= amount * BigInt(percent);
  return {
    nearSince: isAt(NEARLY_SPENT_PERCENT) ? (nearSince ?? now) : null,
    spentSince: isAt(100) ? (spentSince ?? now) : null,
  };
}

/** Returns the values that messages about the spending of a budget contain. */
export function budgetFigures({
  spent,
  amount,
  currency,
  period,
}: SpentBudget & { currency: string; period: Period }) {
  return { spent: formatNanos(spent), amount: formatNanos(amount), currency, period };
}
