import { BudgetBar } from "../../ui/chart/budget-bar.tsx";
import { SpentOf } from "../../ui/text/spent-of.tsx";
import type { Output } from "../../api/call.ts";
import { useCurrency } from "../../api/options.ts";

/** The tightest budget of a key in a table's cell; nothing where it has none. */
export function BudgetCell({ view }: { view: Output<"keys.list">["data"][number] }) {
  const currency = useCurrency(view.organizationId);
  const budget = view.budgets.toSorted((one, other) => shareOf(other) - shareOf(one))[0];
  if (!budget || currency === undefined) return null;
  return (
    <span className="flex w-40 flex-col gap-1">
      <span className="text-xs">
        <SpentOf {...budget} currency={currency} />
      </span>
      <BudgetBar budget={{ ...budget, held: "0", currency }} />
    </span>
  );
}

function shareOf({ spent, amount }: { spent: string; amount: string }): number {
  return Number(amount) > 0 ? Number(spent) / Number(amount) : 1;
}
