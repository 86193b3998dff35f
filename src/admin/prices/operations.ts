import { z } from "zod";
import { priceStart, type PriceAmounts } from "../../domain/price.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";
import { operation } from "../operation.ts";
import {
  amountViewSchema,
  figuresSchema,
  isoTime,
  isoTimeSchema,
  messageCodeSchema,
  pageOf,
} from "../output.ts";
import { consequenceSchema, priceConsequence } from "./consequence.ts";
import { comparedRates, effectiveRates } from "./cells.ts";
import { correctPrice, priceCorrectionSchema, correctionSchema } from "./correction.ts";
import {
  effectivePrice,
  effectivePriceSchema,
  listPrices,
  priceListSchema,
  type AnyPriceRow,
} from "./list.ts";
import {
  previewPrice,
  priceCreationSchema,
  priceEndSchema,
  removePrice,
  setPrice,
  type PriceChange,
} from "./prices.ts";

const amountsSchema = z.record(z.string(), amountViewSchema);

const priceSchema = z.object({
  id: z.string().nullable().describe("Null for a row of the configuration"),
  source: z.enum(["configuration", "stored"]),
  organizationId: z.string().nullable().describe("Null is the default of all"),
  model: z.string(),
  currency: z.string().describe("ISO 4217"),
  unit: z.enum(["image", "token"]),
  perImage: z
    .record(z.string(), amountsSchema)
    .optional()
    .describe("Price of an image by size class and quality; * is every other quality"),
  perMillion: amountsSchema.optional().describe("Price of a million tokens by category"),
  longContext: z.object({ above: z.int(), perMillion: amountsSchema }).optional(),
  perUse: amountsSchema.optional().describe("Price of one use of a feature"),
  effectiveFrom: isoTimeSchema.nullable(),
  effectiveUntil: isoTimeSchema.nullable(),
});

const cellSchema = z.object({
  cell: z.string().describe("Such as 1K:high, cache_read or web_search use"),
  before: amountViewSchema.nullable(),
  after: amountViewSchema.nullable(),
  source: z.enum(["organization", "default"]).nullable(),
});

const changeSchema = z.object({
  price: priceSchema,
  cells: z.array(cellSchema).describe("What everything costs just before and after the change takes effect"),
});

const isForced = z.boolean().default(false).describe("Even if a model that can be called has no price then");

export const priceOperations = {
  "prices.list": operation({
    method: "GET",
    path: "/prices",
    summary: "Price rows; those of the configuration first, unless an organization is named",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: priceListSchema,
    output: pageOf(priceSchema),
    async run(context, input) {
      const { data, next } = await listPrices(context, input);
      return { data: data.map(toView), next };
    },
  }),
  "prices.create": operation({
    method: "POST",
    path: "/prices",
    summary: "Add a price row; what it names takes over from earlier rows",
    role: "billing",
    reach: "installation",
    cost: "report",
    input: priceCreationSchema.extend({ isForced }),
    output: changeSchema,
    run: async (context, { isForced: forced, ...input }) =>
      toChange(await setPrice(context, input, { isForced: forced })),
  }),
  "prices.preview": operation({
    method: "POST",
    path: "/prices/preview",
    summary: "What adding a price row would change; writes nothing",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: priceCreationSchema,
    output: changeSchema.extend({
      refusal: z.string().nullable().describe("Why it would be refused"),
      refusalCode: messageCodeSchema.nullable().describe("Which sentence the refusal is"),
      refusalFigures: figuresSchema,
      consequence: consequenceSchema,
    }),
    async run(context, input) {
      const { refusal, effect, ...change } = await previewPrice(context, input);
      const consequence = await priceConsequence(context, change.row, effect);
      const { message = null, code = null, figures = {} } = refusal ?? {};
      return {
        ...toChange(change),
        refusal: message,
        refusalCode: code,
        refusalFigures: figures,
        consequence,
      };
    },
  }),
  "prices.end": operation({
    method: "POST",
    path: "/prices/{id}/end",
    summary: "End a price row; its cells fall back to earlier rows, defaults or the configuration",
    role: "billing",
    reach: "installation",
    cost: "report",
    input: priceEndSchema.extend({ isForced }),
    output: changeSchema,
    run: async (context, { isForced: forced, ...input }) =>
      toChange(await removePrice(context, input, { isForced: forced })),
  }),
  "prices.effective": operation({
    method: "GET",
    path: "/prices/effective",
    summary: "What a model costs now, cell by cell",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: effectivePriceSchema,
    output: z.object({
      model: z.string(),
      currency: z.string(),
      unit: z.enum(["image", "token"]).nullable(),
      cells: z.array(
        z.object({
          cell: z.string(),
          amount: amountViewSchema,
          source: z.enum(["organization", "default"]),
          effectiveFrom: isoTimeSchema.nullable(),
        }),
      ),
    }),
    async run(context, input) {
      const { currency, price } = await effectivePrice(context, input);
      const cells = (price ? effectiveRates(price) : []).map(({ name, value }) => ({
        cell: name,
        amount: formatNanos(value.amount),
        source: value.source,
        effectiveFrom: priceStart(value.effectiveFrom),
      }));
      return { model: input.model, currency, unit: price?.unit ?? null, cells };
    },
  }),
  "priceCorrections.preview": operation({
    method: "POST",
    path: "/price-corrections/preview",
    summary: "What rating past charges anew would change; writes nothing",
    role: "billing",
    reach: "installation",
    cost: "report",
    input: priceCorrectionSchema,
    output: correctionSchema,
    run: (context, input) => correctPrice(context, input, { dryRun: true }),
  }),
  "priceCorrections.apply": operation({
    method: "POST",
    path: "/price-corrections",
    summary: "Rate past charges anew and book the differences as refunds and adjustments",
    role: "billing",
    reach: "installation",
    cost: "report",
    input: priceCorrectionSchema,
    output: correctionSchema,
    run: (context, input) => correctPrice(context, input, { dryRun: false }),
  }),
};

export type PriceView = z.output<typeof priceSchema>;

function toChange({ row, before, after }: PriceChange): z.input<typeof changeSchema> {
  return { price: toView(row), cells: comparedRates(before, after) };
}

/** Returns the view of a row, with its amounts as decimals. */
export function toView({ id, organizationId, model, currency, price, ...times }: AnyPriceRow): PriceView {
  return {
    id,
    source: id === null ? "configuration" : "stored",
    organizationId,
    model,
    currency,
    unit: price.unit,
    ...(price.unit === "token"
      ? tokenView(price)
      : {
          perImage: Object.fromEntries(
            Object.entries(price.perImage).map(([tier, row]) => [tier, toDecimals(row)]),
          ),
        }),
    effectiveFrom: priceStart(times.effectiveFrom),
    effectiveUntil: times.effectiveUntil === null ? null : isoTime(times.effectiveUntil),
  };
}

function tokenView({ perMillion, longContext, perUse }: Extract<PriceAmounts, { unit: "token" }>) {
  return {
    perMillion: toDecimals(perMillion),
    ...(perUse && { perUse: toDecimals(perUse) }),
    ...(longContext && {
      longContext: { above: longContext.above, perMillion: toDecimals(longContext.perMillion) },
    }),
  };
}

function toDecimals(amounts: Readonly<Record<string, Nanos>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatNanos(amount)]));
}
