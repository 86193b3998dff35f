import { z } from "zod";
import { PRICEABLE_FEATURES } from "../../domain/feature.ts";
import type { Model } from "../../domain/model.ts";
import { priceStart } from "../../domain/price.ts";
import { formatNanos } from "../../lib/money.ts";
import { type ConfiguredValues, readConfigured } from "../configuration/configured.ts";
import type { AdminContext } from "../context.ts";
import { isEnabled } from "../organizations/enabled-models.ts";
import { operation } from "../operation.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { amountViewSchema, isoTimeSchema } from "../output.ts";
import { namedRates } from "./cells.ts";
import { priceIndex } from "./price-index.ts";
import { currencyOf } from "./prices.ts";

const priceTableInput = z.strictObject({
  organizationId: z.string().optional().describe("Absent for one without rows of its own"),
});

const originSchema = z.enum(["file", "environment", "database", "catalogue"]);
type Origin = z.output<typeof originSchema>;

const tableRowSchema = z.object({
  model: z.string(),
  type: z.string().describe("image, chat, messages or embedding"),
  isRetired: z.boolean(),
  isEnabled: z.boolean().describe("Whether the organization may call it"),
  tiers: z.array(z.string()).describe("Size classes that can have a price"),
  qualities: z.array(z.string()).describe("Qualities that can have a price of their own"),
  features: z.array(z.string()).describe("Features whose use can have a price"),
  origin: originSchema.describe(
    "Where the price of `source` configuration stands: `database` for the console",
  ),
  cells: z
    .array(
      z.object({
        cell: z.string().describe("Such as 1K:high, cache_read or web_search use"),
        amount: amountViewSchema,
        source: z.enum(["organization", "default", "configuration"]),
        effectiveFrom: isoTimeSchema.nullable(),
      }),
    )
    .describe("What costs something now; empty where calls are refused for want of a price"),
});

export const priceTableOperations = {
  "prices.table": operation({
    method: "GET",
    path: "/prices/table",
    summary: "What every model costs an organization now, and where each amount comes from",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: priceTableInput,
    output: z.object({ currency: z.string().describe("ISO 4217"), data: z.array(tableRowSchema) }),
    run: async (context, input) =>
      await readPriceTable(context, input, originsOf(await readConfigured(context))),
  }),
};

/** Returns the current price of every model for an organization, or the default prices. */
export async function readPriceTable(
  context: AdminContext,
  input: z.output<typeof priceTableInput>,
  origins: ReadonlyMap<string, Origin> = new Map(),
) {
  const { organizationId } = input;
  const { catalogue, clock, store } = context;
  const payer = {
    id: organizationId ?? "",
    currency: await currencyOf(context, organizationId ?? null, undefined),
  };
  const allowed =
    organizationId === undefined ? "*" : (await getOrganization(context, organizationId)).models;
  const index = priceIndex(await store.prices.list(), catalogue.prices);
  const now = clock.now();
  const cellsOf = (model: Model) => {
    const price = index(payer, model.id, model.type === "image" ? "image" : "token", now);
    return (price ? namedRates(price) : []).map(({ name, value: { amount, source, effectiveFrom } }) => ({
      cell: name,
      amount: formatNanos(amount),
      source: effectiveFrom === 0 ? ("configuration" as const) : source,
      effectiveFrom: priceStart(effectiveFrom),
    }));
  };
  const data = [...catalogue.models.declared.values()].map((model) => ({
    model: model.id,
    type: model.type,
    isRetired: model.isRetired,
    isEnabled: isEnabled(allowed, model.id),
    tiers: model.type === "image" ? [...model.image.tiers] : [],
    qualities: model.type === "image" ? [...model.image.qualities] : [],
    features: (model.allowedFeatures ?? []).filter((feature) => PRICEABLE_FEATURES.includes(feature)),
    origin: origins.get(model.id) ?? "catalogue",
    cells: cellsOf(model),
  }));
  return {
    currency: payer.currency,
    data: data.toSorted((one, other) => (one.model < other.model ? -1 : 1)),
  };
}

/**
 * Returns the source that declares the configured price of each model. If the entry of a shipped model sets no price,
 * the source is the catalogue.
 */
function originsOf({ state }: ConfiguredValues): ReadonlyMap<string, Origin> {
  const models = [...state.models.values()];
  return new Map(
    models.map(({ id, origin, declared }) => {
      const isOwn = declared !== null && (declared["type"] !== undefined || declared["price"] !== undefined);
      return [id, isOwn ? origin : "catalogue"];
    }),
  );
}
