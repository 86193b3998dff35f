import { z } from "zod";
import { isCountedFeature, PRICEABLE_FEATURES } from "../../domain/feature.ts";
import type { ImageModel, Model } from "../../domain/model.ts";
import type { Price, PriceAmounts } from "../../domain/price.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { operatorMessage, type OperatorMessage } from "../../domain/operator-message.ts";
import { newId } from "../../lib/ids.ts";
import { meantBy } from "../../lib/suggest.ts";
import { problemAt } from "../../domain/schema-problems.ts";
import { AdminError, wrongInput } from "../admin-error.ts";
import { requireModel, type AdminContext } from "../context.ts";
import { amountSchema, currencySchema, timeSchema } from "../input.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { loses, priceEffect, stillUnpriced, type PriceEffect } from "./effect.ts";
import { replacedAmounts } from "./cells.ts";
import type { PriceRecord } from "./store-port.ts";
import { entriesOf } from "../../lib/json.ts";

/**
 * Effect of a price change for the organization of its row. For a default row, the effect for an organization without
 * rows of its own.
 */
export interface PriceChange {
  row: PriceRecord;
  /** The price just before the change takes effect. */
  before: Price | null;
  after: Price | null;
}

/**
 * Adds a price row for one organization or, without `organizationId`, as the default of all. From `effectiveFrom` on
 * (by default now), each cell of the row replaces the same cell of earlier rows; the amounts of a row never change.
 * Unless forced, refuses a row that leaves a callable model without a price.
 */
export async function setPrice(
  context: AdminContext,
  fields: z.output<typeof priceCreationSchema>,
  { isForced = false, id }: { isForced?: boolean; id?: string } = {},
): Promise<PriceChange> {
  const { refusal, effect: _, ...previewed } = await previewPrice(context, fields);
  if (!isForced && refusal !== null) throw new AdminError(409, null, refusal);
  const change = id === undefined ? previewed : { ...previewed, row: { ...previewed.row, id } };
  const replaced = change.before && replacedAmounts(change.before, change.row.price);
  await context.store.prices.add(change.row, context.by, replaced);
  return change;
}

/** Returns the effect of `setPrice`; `refusal` is the reason why the row would be refused, or null. Writes nothing. */
export async function previewPrice(
  context: AdminContext,
  fields: z.output<typeof priceCreationSchema>,
): Promise<PriceChange & { refusal: OperatorMessage | null; effect: PriceEffect }> {
  const model = requireModel(context.catalogue, fields.model, "model");
  const now = context.clock.now();
  const effectiveFrom = fields.effectiveFrom ?? now;
  requireFuture("effectiveFrom", effectiveFrom, now);
  const currency = await currencyOf(context, fields.organizationId, fields.currency);
  const row: PriceRecord = {
    id: newId("price"),
    organizationId: fields.organizationId,
    model: fields.model,
    currency,
    price: priceOf(model, fields),
    effectiveFrom,
    effectiveUntil: null,
    createdAt: now,
  };
  const stored = await context.store.prices.list({ model: model.id });
  const effect = await priceEffect(context, row, { stored, changed: [...stored, row], at: effectiveFrom });
  const refusal = effect.unpriced.length > 0 ? stillUnpriced(row, effect) : null;
  return { row, before: effect.before, after: effect.after, refusal, effect };
}

/**
 * Ends a price row, by default now. From then on its cells are priced by earlier rows, the defaults or the
 * configuration. Unless forced, refuses the end when a callable model would lose a price.
 */
export async function removePrice(
  context: AdminContext,
  input: z.output<typeof priceEndSchema>,
  { isForced = false }: { isForced?: boolean } = {},
): Promise<PriceChange> {
  const { id, effectiveUntil } = input;
  const now = context.clock.now();
  const until = effectiveUntil ?? now;
  requireFuture("effectiveUntil", until, now);
  const all = await context.store.prices.list();
  const row = all.find((each) => each.id === id);
  if (!row) throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "price row", id }));
  const ended = { ...row, effectiveUntil: until };
  const stored = all.filter(({ model }) => model === row.model);
  const changed = stored.map((each) => (each === row ? ended : each));
  const effect = await priceEffect(context, row, { stored, changed, at: until });
  if (!isForced && effect.lost.length > 0) throw new AdminError(409, null, loses(row, effect));
  if (!(await context.store.prices.end(id, until, context.by)))
    throw new AdminError(409, "id", operatorMessage("error.price.ended", { id }));
  return { row: ended, before: effect.before, after: effect.after };
}

/** Returns the amounts of an input, after checking that they fit the model. */
export function priceOf(model: Model, fields: PriceInput): PriceAmounts {
  return model.type === "image" ? imagePrice(model, fields) : tokenPrice(model.id, fields);
}

const perMillionSchema = z.strictObject({
  input: amountSchema.optional(),
  output: amountSchema.optional(),
  cacheRead: amountSchema.optional(),
  cacheWrite: amountSchema.optional(),
  cacheWrite1h: amountSchema.optional(),
  reasoning: amountSchema.optional(),
  imageInput: amountSchema.optional(),
  imageOutput: amountSchema.optional(),
});

/** Maximum of `above`, more tokens than any model's context. */
const MAX_LONG_ABOVE = 100_000_000;

export const priceFields = {
  organizationId: z.string().nullable().default(null),
  model: z.string(),
  currency: currencySchema.optional(),
  perImage: z.record(z.string(), z.record(z.string(), amountSchema)).optional(),
  perMillion: perMillionSchema.optional(),
  longContext: z
    .strictObject({ above: z.int().min(1).max(MAX_LONG_ABOVE), perMillion: perMillionSchema })
    .optional(),
  perUse: z.partialRecord(z.enum(PRICEABLE_FEATURES), amountSchema).optional(),
};

export const priceCreationSchema = z.strictObject({ ...priceFields, effectiveFrom: timeSchema.optional() });

export const priceEndSchema = z.strictObject({ id: z.string(), effectiveUntil: timeSchema.optional() });

type PriceInput = Pick<
  z.output<typeof priceCreationSchema>,
  "perImage" | "perMillion" | "longContext" | "perUse"
>;

/**
 * Returns the currency of a price: the organization's, else `given`, else USD. Throws 400 when the first two differ.
 */
export async function currencyOf(
  context: AdminContext,
  organizationId: string | null,
  given: string | undefined,
): Promise<string> {
  if (organizationId === null) return given ?? "USD";
  const { currency } = await getOrganization(context, organizationId);
  if (given === undefined || given === currency) return currency;
  throw new AdminError(400, "currency", operatorMessage("error.price.currency", { currency }));
}

function imagePrice(
  model: ImageModel,
  { perImage, perMillion, longContext, perUse }: PriceInput,
): PriceAmounts {
  if (!perImage || perMillion || longContext || perUse)
    throw new AdminError(400, "perImage", operatorMessage("error.price.image", { model: model.id }));
  const { tiers, qualities } = model.image;
  const known = [...qualities, "auto", "*"];
  if (Object.keys(perImage).length === 0)
    throw new AdminError(400, "perImage", operatorMessage("error.price.tiers", { tiers: tiers.join(", ") }));
  const rows: Extract<PriceAmounts, { unit: "image" }>["perImage"] = {};
  for (const [name, row] of Object.entries(perImage)) {
    const tier = tiers.find((each) => each === name);
    if (!tier)
      throw new AdminError(
        400,
        `perImage.${name}`,
        operatorMessage("error.price.tier", { model: model.id, tier: name, tiers: tiers.join(", ") }),
      );
    if (Object.keys(row).length === 0)
      throw new AdminError(
        400,
        `perImage.${name}`,
        operatorMessage("error.price.empty", { field: `perImage.${name}` }),
      );
    for (const quality of Object.keys(row))
      if (!known.includes(quality)) {
        const suggestion = meantBy(quality, known) ?? { has: known.join(", ") };
        const message = operatorMessage("error.price.quality", { model: model.id, quality, ...suggestion });
        throw new AdminError(400, `perImage.${name}`, message);
      }
    rows[tier] = row;
  }
  return { unit: "image", perImage: rows };
}

function tokenPrice(
  model: string,
  { perImage, perMillion = {}, longContext, perUse }: PriceInput,
): PriceAmounts {
  const isEmpty = Object.keys(perMillion).length === 0 && Object.keys(perUse ?? {}).length === 0;
  if (perImage || isEmpty)
    throw new AdminError(400, "perMillion", operatorMessage("error.price.text", { model }));
  if (longContext) checkLongContext(perMillion, longContext.perMillion);
  for (const [name, amount] of entriesOf(perUse ?? {}))
    if (amount > 0n && !isCountedFeature(name))
      throw wrongInput([problemAt(`perUse.${name}`, operatorMessage("input.uncounted", {}))]);
  return { unit: "token", perMillion, ...(longContext && { longContext }), ...(perUse && { perUse }) };
}

type TokenAmounts = Extract<PriceAmounts, { unit: "token" }>["perMillion"];

function checkLongContext(perMillion: TokenAmounts, long: TokenAmounts): void {
  const names = TOKEN_CATEGORIES.filter((category) => long[category] !== undefined);
  if (names.length === 0)
    throw new AdminError(400, "longContext.perMillion", operatorMessage("error.price.long", {}));
  for (const category of names)
    if (perMillion[category] === undefined)
      throw new AdminError(
        400,
        `longContext.perMillion.${category}`,
        operatorMessage("error.price.short", { category: TOKEN_CATEGORY_NAMES[category] }),
      );
}

function requireFuture(field: string, time: number, now: number): void {
  if (time < now) throw new AdminError(400, field, operatorMessage("error.price.past", { field }));
}
