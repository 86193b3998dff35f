import { percentile } from "../../domain/traffic.ts";
import { TOKEN_CATEGORIES } from "../../domain/usage.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";
import type { SpendingSum, TrafficSum, UsageSum } from "./store-port.ts";
import { recordFrom } from "../../lib/json.ts";

/** Returns the sum of spending: amounts only in `currency`, but requests, images and tokens of all currencies. */
export function spendingOf(sums: readonly SpendingSum[], currency: string) {
  const total = { requests: 0, images: 0, tokens: 0, amount: 0n };
  for (const sum of sums) {
    total.requests += sum.requests;
    total.images += sum.images;
    total.tokens += sum.tokens;
    if (sum.currency === currency) total.amount += sum.amount;
  }
  return total;
}

/** Returns the sum of spending with all figures of usage. */
export function totalOf(sums: readonly UsageSum[], currency: string) {
  const categories = recordFrom(TOKEN_CATEGORIES, () => 0);
  const cost = { orphanCost: 0n, vendorCost: 0n, costed: 0n };
  for (const sum of sums) {
    for (const category of TOKEN_CATEGORIES) categories[category] += sum.categories[category];
    if (sum.currency !== currency) continue;
    cost.orphanCost += sum.orphanCost;
    cost.vendorCost += sum.vendorCost;
    cost.costed += sum.costed;
  }
  return { ...spendingOf(sums, currency), categories, ...cost };
}

export type Spending = ReturnType<typeof spendingOf>;
export type Total = ReturnType<typeof totalOf>;

export function spendView({ amount, requests, images, tokens }: Spending) {
  return { amount: formatNanos(amount), requests, images, tokens };
}

export function usageView(total: Total) {
  return {
    ...spendView(total),
    tokensByCategory: total.categories,
    orphanCost: formatNanos(total.orphanCost),
    vendorCost: formatNanos(total.vendorCost),
    margin: formatNanos(total.costed - total.vendorCost),
  };
}

/** Returns requests, errors and latency of counts. */
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

/** Returns the ratio of two amounts of money with four decimals; 0 when `whole` is not positive. */
export function shareOf(part: Nanos, whole: Nanos): number {
  return whole <= 0n ? 0 : Number((part * 10_000n) / whole) / 10_000;
}
