import { parseNanos, type Nanos } from "../lib/money.ts";

/** A vendor's own figure for what its work cost the operator. It is recorded beside a charge and never billed. */
export interface VendorCost {
  amount: Nanos;
  /** ISO 4217. */
  currency: string;
}

/** The largest cost of a call; a larger number is capped to it. */
const MAX_UNITS = 1_000_000;

/**
 * Reads a cost that a vendor reports in US dollars, or in parts of which `perDollar` make one. The input is hostile:
 * anything but a number from zero on is no cost, and a very large one is capped.
 */
export function readVendorCost(value: unknown, perDollar = 1): VendorCost | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  const units = Math.min(value / perDollar, MAX_UNITS);
  return { amount: parseNanos(units.toFixed(9)), currency: "USD" };
}

/** Returns the sum of several calls' costs; undefined unless all are known and in one currency. */
export function sumVendorCosts(costs: readonly (VendorCost | undefined)[]): VendorCost | undefined {
  const [first] = costs;
  if (!first) return undefined;
  let amount = 0n;
  for (const cost of costs) {
    if (cost?.currency !== first.currency) return undefined;
    amount += cost.amount;
  }
  return { amount, currency: first.currency };
}
