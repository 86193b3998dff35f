import { BudgetBar } from "../../components/budget-bar.tsx";
import { Money } from "../../components/money.tsx";
import type { Output } from "../../lib/api.ts";
import { useReading } from "../../lib/queries.ts";

/** The tightest budget of a key in a table's cell; nothing where it has none. */
export function BudgetCell({ view }: { view: Output<"keys.list">["data"][number] }) {
  const organizations = useReading("organizations.list", {});
  const currency = organizations.data?.data.find(({ id }) => id === view.organizationId)?.currency;
  const budget = view.budgets.toSorted((one, other) => shareOf(other) - shareOf(one))[0];
  if (!budget || currency === undefined) return null;
  return (
    <span className="flex w-40 flex-col gap-1">
      <span className="text-xs whitespace-nowrap">
        <Money amount={budget.spent} currency={currency} isShort />
        <span className="text-muted">
          {" / "}
          <Money amount={budget.amount} currency={currency} isShort />
        </span>
      </span>
      <BudgetBar budget={{ ...budget, held: "0", currency }} />
    </span>
  );
}

function shareOf({ spent, amount }: { spent: string; amount: string }): number {
  return Number(amount) > 0 ? Number(spent) / Number(amount) : 1;
}
