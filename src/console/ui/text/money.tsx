import { formatMoney, formatShortMoney } from "./format.ts";

interface MoneyProps {
  /** A decimal text. */
  amount: string;
  currency: string;
  /** True to round to the cent. A rounded amount has a dotted underline; hovering shows the exact amount. */
  isShort?: boolean;
}

export function Money({ amount, currency, isShort = false }: MoneyProps) {
  const exact = formatMoney(amount, currency);
  const shown = isShort ? formatShortMoney(amount, currency) : exact;
  if (shown === exact) return <span className="whitespace-nowrap">{exact}</span>;
  return (
    <span
      title={exact}
      className="underline decoration-line-strong decoration-dotted underline-offset-4 whitespace-nowrap"
    >
      {shown}
    </span>
  );
}

/** Shows the spent part of an amount. Both amounts are decimal texts in one currency. */
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
