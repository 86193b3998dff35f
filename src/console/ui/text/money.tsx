import { formatMoney, formatShortMoney } from "./format.ts";

interface MoneyProps {
  /** A decimal text. */
  amount: string;
  currency: string;
  /** To the cent; what that leaves out is dotted and shown on hover. */
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
