import { z } from "zod";
import type { Price } from "../../domain/price.ts";
import { AdminError } from "../admin-error.ts";
import { requireModel, type AdminContext } from "../context.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { pageFields, type Page } from "../paging.ts";
import { priceIndex } from "./price-index.ts";
import { currencyOf } from "./prices.ts";
import type { PriceRecord } from "./store-port.ts";

/** A price row. `id` is null for a row of the configuration. */
export type AnyPriceRow = Omit<PriceRecord, "id" | "createdAt"> & { id: string | null };

/**
 * Returns the rows of the configuration in their order, then the stored rows by model, each model's oldest first. Rows
 * of the configuration come before the stored rows, and are left out when an organization is selected.
 */
export async function listPrices(
  context: AdminContext,
  input: z.output<typeof priceListSchema>,
): Promise<Page<AnyPriceRow>> {
  const { cursor, limit, organizationId, model } = input;
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  const configured = organizationId === undefined ? configuredRows(context, model) : [];
  const last = configured.findIndex((row) => nameOf(row) === cursor);
  const isStored = cursor !== undefined && last < 0;
  // Reads one more row than the page has, to find out if another page follows.
  const rows: AnyPriceRow[] = isStored ? [] : configured.slice(last + 1, last + 2 + limit);
  const stored = await context.store.prices.page({
    ...(organizationId !== undefined && { organizationId }),
    ...(model !== undefined && { model }),
    ...(isStored && { after: cursor }),
    limit: limit + 1 - rows.length,
  });
  if (!stored) throw new AdminError(400, "cursor", "the cursor is not in this list any more: begin anew");
  const found = [...rows, ...stored];
  const data = found.slice(0, limit);
  const end = data.at(-1);
  return { data, next: found.length > limit && end ? nameOf(end) : null };
}

function nameOf({ id, model }: AnyPriceRow): string {
  return id ?? `configured:${model}`;
}

function configuredRows({ catalogue }: AdminContext, only: string | undefined): AnyPriceRow[] {
  const rows =
    only === undefined
      ? [...catalogue.prices.declared]
      : [...catalogue.prices.declared].filter(([id]) => id === only);
  return rows.map(([model, price]) => ({
    id: null,
    organizationId: null,
    model,
    currency: price.currency,
    price,
    effectiveFrom: price.effectiveFrom,
    effectiveUntil: null,
  }));
}

/** Returns the current price of a model for an organization, or its default price; null when there is none. */
export async function effectivePrice(
  context: AdminContext,
  fields: z.output<typeof effectivePriceSchema>,
): Promise<{ currency: string; price: Price | null }> {
  const model = requireModel(context.catalogue, fields.model, "model");
  const currency = await currencyOf(context, fields.organizationId ?? null, undefined);
  const index = priceIndex(await context.store.prices.list({ model: model.id }), context.catalogue.prices);
  const unit = model.type === "image" ? "image" : "token";
  const payer = { id: fields.organizationId ?? "", currency };
  return { currency, price: index(payer, model.id, unit, context.clock.now()) };
}

export const priceListSchema = z.strictObject({
  organizationId: z.string().optional(),
  model: z.string().optional(),
  ...pageFields,
});

export const effectivePriceSchema = z.strictObject({
  model: z.string(),
  organizationId: z.string().optional(),
});
