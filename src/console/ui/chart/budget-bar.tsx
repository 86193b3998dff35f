import { Meter } from "react-aria-components/Meter";
import { useTranslation } from "react-i18next";
import { NEARLY_SPENT_PERCENT } from "../../../domain/budget-level.ts";
import { formatMoney } from "../text/format.ts";

/** The amount of a budget, and the parts of it that are used, as decimal texts in one currency. */
interface BudgetUse {
  amount: string;
  spent: string;
  held: string;
  currency: string;
}

/**
 * Shows the spent and held parts of a budget as one bar. The colour changes when both parts reach 80 percent together,
 * and when the spent part reaches 100 percent.
 */
export function BudgetBar({ budget }: { budget: BudgetUse }) {
  const { t } = useTranslation("money");
  const amount = Number(budget.amount);
  const spent = shareOf(budget.spent, amount);
  const held = Math.min(shareOf(budget.held, amount), 1 - spent);
  const look = spent >= 1 ? "bg-bad-solid" : spent + held >= NEARLY_SPENT ? "bg-warn" : "bg-accent-solid";
  const text = t("budget.bar", {
    spent: formatMoney(budget.spent, budget.currency),
    amount: formatMoney(budget.amount, budget.currency),
    held: formatMoney(budget.held, budget.currency),
  });
  return (
    <Meter
      aria-label={text}
      value={Math.round((spent + held) * 10_000) / 100}
      className="flex h-2 w-full overflow-hidden rounded-full bg-sunken"
    >
      <span className={`h-full ${look}`} style={{ width: `${spent * 100}%` }} />
      <span className={`h-full opacity-40 ${look}`} style={{ width: `${held * 100}%` }} />
    </Meter>
  );
}

export const NEARLY_SPENT = NEARLY_SPENT_PERCENT / 100;

/** Returns which share of a budget a part is, from 0 to 1. A budget of zero counts as used up. */
export function shareOf(part: string, amount: number): number {
  return amount > 0 ? Math.min(1, Math.max(0, Number(part) / amount)) : 1;
}
