import { z } from "zod";
import { charge, type Price } from "../../domain/price.ts";
import type { ImageUsage, Usage } from "../../domain/usage.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import { amountViewSchema } from "../output.ts";
import type { UsageRange, UsageSum } from "../usage/store-port.ts";
import type { PriceEffect } from "./effect.ts";
import type { PriceRecord } from "./store-port.ts";

export const consequenceSchema = z.object({
  organizations: z.array(z.string()).describe("Ids of those that pay another price after the change"),
  currency: z.string(),
  lastWeek: z
    .object({ before: amountViewSchema, after: amountViewSchema })
    .describe(
      "What their tokens or images of the last seven days cost at both prices; sizes and qualities are those of the newest 1,000 charges",
    ),
});

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/**
 * Maximum number of charges that are read for their sizes and qualities. The proportions of these charges apply to all
 * images, because sums do not contain sizes and qualities.
 */
const MAX_CHARGES = 1_000;

/** Returns the organizations whose price changes, and the cost of their last week's usage at both prices. */
export async function priceConsequence(
  { store, clock }: AdminContext,
  { model, currency, price }: PriceRecord,
  { concerned }: PriceEffect,
): Promise<z.input<typeof consequenceSchema>> {
  const organizations = concerned.map(({ organization }) => organization);
  const to = clock.now();
  const from = to - (to % HOUR_MS) - WEEK_MS;
  const range = { from, to, span: "hour", models: [model], organizations } satisfies UsageRange;
  const sums = organizations.length === 0 ? [] : await store.usage.sums(range, ["organizationId"]);
  const ofCurrency = sums.filter((sum) => sum.currency === currency);
  const used =
    price.unit === "token" || ofCurrency.length === 0
      ? ofCurrency.map(tokensOf)
      : imagesOf(
          ofCurrency,
          await store.ledger.list({ from, to, model, organizationIds: organizations, limit: MAX_CHARGES }),
        );
  const ofOrganization = Map.groupBy(used, ({ organizationId }) => organizationId);
  const week = { before: 0n, after: 0n };
  for (const { organization, before, after } of concerned)
    for (const { usage } of ofOrganization.get(organization) ?? []) {
      week.before += costOf(usage, before);
      week.after += costOf(usage, after);
    }
  return {
    organizations,
    currency,
    lastWeek: { before: formatNanos(week.before), after: formatNanos(week.after) },
  };
}

/** Usage of an organization. */
interface Used<U extends Usage = Usage> {
  organizationId: string;
  usage: U;
}

function tokensOf({ organizationId, categories }: UsageSum): Used {
  return { organizationId, usage: { unit: "token", tokens: categories, source: "upstream" } };
}

/**
 * Divides the images of each sum among size classes and qualities, in the proportions of the organization's charges. If
 * `charges` contains no images of the organization, uses the proportions of all charges. Exact when `charges` contains
 * every charge of the sums.
 */
function imagesOf(
  sums: readonly UsageSum[],
  charges: readonly { organizationId: string; usage: Usage | null }[],
): Used[] {
  const images = charges.flatMap(({ organizationId, usage }) =>
    usage?.unit === "image" && usage.count > 0 ? [{ organizationId, usage }] : [],
  );
  const ofOrganization = Map.groupBy(images, ({ organizationId }) => organizationId);
  const all = byCell(images);
  return sums.flatMap(({ organizationId, images: total }) => {
    const own = ofOrganization.get(organizationId);
    const cells = own ? byCell(own) : all;
    const counted = cells.reduce((sum, { count }) => sum + count, 0);
    return cells.map((usage) => ({
      organizationId,
      usage: { ...usage, count: Math.round((usage.count * total) / counted) },
    }));
  });
}

/** Adds up images of the same size class and quality. */
function byCell(images: readonly Used<ImageUsage>[]): ImageUsage[] {
  const cells = new Map<string, ImageUsage>();
  for (const { usage } of images) {
    const { count, tier, quality } = usage;
    const name = `${tier}:${quality}`;
    cells.set(name, { unit: "image", count: count + (cells.get(name)?.count ?? 0), tier, quality });
  }
  return [...cells.values()];
}

/** Returns the cost of a usage without long-context amounts, because a sum does not show which requests were long. */
function costOf(usage: Usage, price: Price | null): Nanos {
  return price === null ? 0n : (charge(ordinary(price), usage)?.amount ?? 0n);
}

function ordinary(price: Price): Price {
  if (price.unit === "image") return price;
  const rates = Object.entries(price.perMillion).map(([category, rate]) => {
    const { longContext: _, ...ordinaryRate } = rate;
    return [category, ordinaryRate];
  });
  return { ...price, perMillion: Object.fromEntries(rates) };
}
