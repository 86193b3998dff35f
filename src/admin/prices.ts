import { z } from "zod";
import type { ImageModel, Model } from "../domain/model.ts";
import { newId } from "../lib/ids.ts";
import { didYouMean } from "../lib/suggest.ts";
import { AdminError } from "./admin-error.ts";
import { requireModel, type AdminContext } from "./context.ts";
import { amountSchema, currencySchema, readInput } from "./input.ts";
import { getOrganization } from "./organizations.ts";
import type { PriceRecord } from "./ports.ts";

/**
 * Adds a price row, for one organization or (without `organizationId`) as the default of all. It is in force
 * from `effectiveFrom`, by default now, until a later row takes over; rows themselves never change.
 */
export async function setPrice(context: AdminContext, input: unknown): Promise<PriceRecord> {
  const fields = readInput(priceSchema, input);
  const model = requireModel(context.catalogue, fields.model, "model");
  const now = context.clock.now();
  const effectiveFrom = fields.effectiveFrom ?? now;
  if (effectiveFrom < now)
    throw new AdminError(
      400,
      "effectiveFrom",
      "effectiveFrom lies in the past: what was billed does not change",
    );
  const currency = await currencyOf(context, fields.organizationId, fields.currency);
  const record: PriceRecord = {
    id: newId("price"),
    organizationId: fields.organizationId,
    model: fields.model,
    currency,
    price: priceOf(model, fields),
    effectiveFrom,
    createdAt: now,
  };
  await context.store.prices.add(record, context.by);
  return record;
}

/** Price rows, oldest first; `organizationId: null` gives the defaults only. */
export async function listPrices(
  context: AdminContext,
  filter: { organizationId?: string | null; model?: string } = {},
): Promise<PriceRecord[]> {
  if (typeof filter.organizationId === "string") await getOrganization(context, filter.organizationId);
  return await context.store.prices.list(filter);
}

/** A price as input says it, checked against what the model has. */
export function priceOf(model: Model, fields: PriceInput): PriceRecord["price"] {
  return model.type === "image" ? imagePrice(model, fields) : tokenPrice(model.id, fields);
}

/** The fields of an input that say a price. */
export const priceFields = {
  organizationId: z.string().nullable().default(null),
  model: z.string(),
  currency: currencySchema.optional(),
  perImage: z.record(z.string(), z.record(z.string(), amountSchema)).optional(),
  perMillion: z
    .strictObject({
      input: amountSchema,
      output: amountSchema,
      cacheRead: amountSchema.optional(),
      cacheWrite: amountSchema.optional(),
      cacheWrite1h: amountSchema.optional(),
      reasoning: amountSchema.optional(),
      imageInput: amountSchema.optional(),
      imageOutput: amountSchema.optional(),
    })
    .optional(),
};

const priceSchema = z.strictObject({ ...priceFields, effectiveFrom: z.int().min(0).optional() });

type PriceInput = Pick<z.output<typeof priceSchema>, "perImage" | "perMillion">;

/** The currency of a price: the organization's own, or the one named, by default USD. */
export async function currencyOf(
  context: AdminContext,
  organizationId: string | null,
  given: string | undefined,
): Promise<string> {
  if (organizationId === null) return given ?? "USD";
  const { currency } = await getOrganization(context, organizationId);
  if (given === undefined || given === currency) return currency;
  throw new AdminError(
    400,
    "currency",
    `the organization pays in ${currency}, so its prices must be in ${currency}`,
  );
}

function imagePrice(model: ImageModel, { perImage, perMillion }: PriceInput): PriceRecord["price"] {
  if (!perImage || perMillion)
    throw new AdminError(
      400,
      "perImage",
      `"${model.id}" makes images: name the price of one image, and none of tokens`,
    );
  const { tiers, qualities } = model.image;
  const known = [...qualities, "auto", "*"];
  if (Object.keys(perImage).length === 0)
    throw new AdminError(400, "perImage", `perImage is empty: name a price for ${tiers.join(", ")}`);
  const rows: Extract<PriceRecord["price"], { unit: "image" }>["perImage"] = {};
  for (const [name, row] of Object.entries(perImage)) {
    const tier = tiers.find((each) => each === name);
    if (!tier)
      throw new AdminError(
        400,
        `perImage.${name}`,
        `"${model.id}" has no tier ${name}, only ${tiers.join(", ")}`,
      );
    if (Object.keys(row).length === 0)
      throw new AdminError(400, `perImage.${name}`, `perImage.${name} is empty`);
    for (const quality of Object.keys(row))
      if (!known.includes(quality)) {
        const suggestion = didYouMean(quality, known) || `; it has ${known.join(", ")}`;
        throw new AdminError(
          400,
          `perImage.${name}`,
          `"${model.id}" has no quality "${quality}"${suggestion}`,
        );
      }
    rows[tier] = row;
  }
  return { unit: "image", perImage: rows };
}

function tokenPrice(model: string, { perImage, perMillion }: PriceInput): PriceRecord["price"] {
  if (!perMillion || perImage)
    throw new AdminError(
      400,
      "perMillion",
      `"${model}" answers text: name prices of a million tokens, at least of input and output, and none of images`,
    );
  return { unit: "token", perMillion };
}
