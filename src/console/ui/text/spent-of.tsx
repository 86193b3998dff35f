import { Money } from "./money.tsx";

/** What is spent of an amount; decimal texts of one currency. */
export function SpentOf({ spent, amount, currency }: { spent: string; amount: string; currency: string }) {
  return (
    <span className="whitespace-nowrap">
      <Money amount={spent} currency={currency} isShort />{" "}
      <span className="text-muted">
        / <Money amount={amount} currency={currency} isShort />
      </span>
    </span>
  );
}
