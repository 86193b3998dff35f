import { z } from "zod";
import { charge, type Price } from "../../domain/price.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import { amountViewSchema } from "../output.ts";
import type { UsageSum } from "../usage/store-port.ts";
import type { PriceEffect } from "./effect.ts";
import type { PriceRecord } from "./store-port.ts";

export const consequenceSchema = z.object({
  organizations: z.array(z.string()).describe("Ids of those that pay another price after the change"),
  currency: z.string(),
  lastWeek: z
    .object({ before: amountViewSchema, after: amountViewSchema })
    .nullable()
    .describe("What their tokens of the last seven days cost at both prices; null for a model of images"),
});

const WEEK_MS = 7 * 24 * 60 * 60_000;

/** Returns the organizations that a price change concerns, and its effect on their last week. */
export async function priceConsequence(
  { store, clock }: AdminContext,
  { model, currency, price }: PriceRecord,
  { concerned }: PriceEffect,
): Promise<z.input<typeof consequenceSchema>> {
  const organizations = concerned.map(({ organization }) => organization);
  if (price.unit === "image") return { organizations, currency, lastWeek: null };
  const to = clock.now();
  const range = { from: to - (to % HOUR_MS) - WEEK_MS, to, span: "hour" as const, models: [model] };
  const sums =
    organizations.length === 0 ? [] : await store.usage.sums({ ...range, organizations }, ["organizationId"]);
  const ofOrganization = Map.groupBy(
    sums.filter((sum) => sum.currency === currency),
    ({ organizationId }) => organizationId,
  );
  const week = { before: 0n, after: 0n };
  for (const { organization, before, after } of concerned)
    for (const sum of ofOrganization.get(organization) ?? []) {
      week.before += costOf(sum, before);
      week.after += costOf(sum, after);
    }
  return {
    organizations,
    currency,
    lastWeek: { before: formatNanos(week.before), after: formatNanos(week.after) },
  };
}

const HOUR_MS = 60 * 60_000;

/** Returns the cost of tokens without long-context amounts, because a sum does not show which requests were long. */
function costOf({ categories }: UsageSum, price: Price | null): Nanos {
  if (price?.unit !== "token") return 0n;
  const rates = Object.entries(price.perMillion).map(([category, rate]) => {
    const { longContext: _, ...ordinary } = rate;
    return [category, ordinary];
  });
  const ordinary: Price = { ...price, perMillion: Object.fromEntries(rates) };
  const usage = { unit: "token", tokens: categories, source: "upstream" } as const;
  return charge(ordinary, usage)?.amount ?? 0n;
}
