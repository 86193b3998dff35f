import { percentile } from "../domain/traffic.ts";
import { sumTokens, TOKEN_CATEGORIES } from "../domain/usage.ts";
import { formatNanos, type Nanos } from "../lib/money.ts";
import type { TrafficSum, UsageSum } from "./usage-ports.ts";

/** Adds up sums. Amounts are those of one currency, everything else counts in all. */
export function totalOf(sums: readonly UsageSum[], currency: string) {
  const tokens = Object.fromEntries(TOKEN_CATEGORIES.map((category) => [category, 0])) as UsageSum["tokens"];
  const total = { requests: 0, images: 0, tokens, amount: 0n, orphanCost: 0n, vendorCost: 0n, costed: 0n };
  for (const sum of sums) {
    total.requests += sum.requests;
    total.images += sum.images;
    for (const category of TOKEN_CATEGORIES) tokens[category] += sum.tokens[category];
    if (sum.currency !== currency) continue;
    total.amount += sum.amount;
    total.orphanCost += sum.orphanCost;
    total.vendorCost += sum.vendorCost;
    total.costed += sum.costed;
  }
  return total;
}

/** What `totalOf` adds up to. */
export type Total = ReturnType<typeof totalOf>;

/** A total as it is shown with few words. */
export function spendView({ amount, requests, images, tokens }: Total) {
  return { amount: formatNanos(amount), requests, images, tokens: sumTokens(tokens) };
}

/** A total as it is shown in full. */
export function usageView(total: Total) {
  return {
    ...spendView(total),
    tokensByCategory: total.tokens,
    orphanCost: formatNanos(total.orphanCost),
    vendorCost: formatNanos(total.vendorCost),
    margin: formatNanos(total.costed - total.vendorCost),
  };
}

/** Requests, errors and latency of some counts. */
export function trafficView(counts: readonly TrafficSum[]) {
  const durations: number[] = [];
  let requests = 0;
  let errors = 0;
  for (const count of counts) {
    requests += count.requests;
    errors += count.errors;
    for (const [index, number] of count.durations.entries())
      durations[index] = (durations[index] ?? 0) + number;
  }
  return { requests, errors, p50Ms: percentile(durations, 0.5), p95Ms: percentile(durations, 0.95) };
}

/** A part of a sum of money, from 0 to 1; 0 of nothing. */
export function shareOf(part: Nanos, whole: Nanos): number {
  return whole <= 0n ? 0 : Number((part * 10_000n) / whole) / 10_000;
}
