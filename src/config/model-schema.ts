import { z } from "zod";
import { FEATURES, isCountedFeature, PRICEABLE_FEATURES } from "../domain/feature.ts";
import { REASONING_CONTROLS } from "../domain/model.ts";
import { isPlainName } from "../lib/plain-name.ts";
import { entriesOf } from "../lib/json.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import { inputError, inputIssue } from "../domain/schema-problems.ts";

/*
 * The schemas of models in YAML, for the shipped catalogue and the configuration file. An entry may leave out fields
 * that the model's entry in another file has; the complete schemas describe the merged result.
 */
const tier = z.enum(["1K", "2K", "4K"]);
const QUOTED = inputError("input.decimal", {});
export const decimal = z.string({ error: QUOTED }).regex(/^\d{1,9}(\.\d{1,9})?$/, { error: QUOTED });
const ratio = z.string().regex(/^[1-9]\d?(\.\d)?:[1-9]\d?(\.\d)?$/, { error: inputError("input.ratio", {}) });
const pixelSize = z
  .string()
  .regex(/^[1-9]\d{0,4}x[1-9]\d{0,4}$/, { error: inputError("input.pixelSize", {}) });
const date = z.iso.date({ error: inputError("input.date", {}) });
const count = z.int().min(1);
const words = z.array(z.string().min(1));

export const modelIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,126}(?:\*|[A-Za-z0-9._:/-])?$/, {
    error: inputError("input.modelId", {}),
  });

const QUALITIES = "Qualities that are sent to the vendor, the lowest first";
const BACKGROUNDS = "Backgrounds that are sent to the vendor";
const IMAGES_PER_CALL = "Pictures that one call of the vendor makes; 1 unless set";

const capability = {
  size_mode: z
    .enum(["pixels", "table"])
    .describe("With table only the listed sizes, with pixels every size within bounds"),
  tiers: z.array(tier).min(1).describe("Tiers of size that the model offers"),
  ratios: z.array(ratio).min(1).describe("Aspect ratios that the model offers"),
  sizes: z.partialRecord(tier, z.record(ratio, pixelSize)).describe("The pixels of each tier and ratio"),
  bounds: z
    .strictObject({
      min_pixels: count,
      max_pixels: count,
      max_edge: count,
      multiple: count,
      max_ratio: z.number().min(1),
    })
    .optional()
    .describe("Required with size_mode pixels: which sizes the model takes"),
  qualities: words.default([]).describe(QUALITIES),
  default_quality: z
    .string()
    .optional()
    .describe("Quality that is requested for auto; the vendor's choice where absent"),
  formats: z
    .array(z.enum(["png", "jpeg", "webp"]))
    .min(1)
    .describe("Formats that the vendor delivers; the gateway converts to the others"),
  backgrounds: words.default([]).describe(BACKGROUNDS),
  max_images_per_call: count.default(1).describe(IMAGES_PER_CALL),
  max_references: z
    .int()
    .min(0)
    .max(16)
    .optional()
    .describe("Reference pictures of one request, where that is not the family's number"),
};

const perImage = z
  .partialRecord(tier, z.record(z.string(), decimal))
  .describe("Price of a picture by tier and quality; the quality * covers those without a row");
const perMillion = z.strictObject({
  input: decimal,
  output: decimal,
  cache_read: decimal.optional(),
  cache_write: decimal.optional(),
  cache_write_1h: decimal.optional(),
  reasoning: decimal.optional(),
  image_input: decimal.optional(),
  image_output: decimal.optional(),
});
const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, { error: inputError("input.currency", {}) })
  .default("USD");

const longContext = z
  .strictObject({ above: z.int().min(1).max(100_000_000), per_million: perMillion.partial() })
  .describe("Prices of all tokens of a request that has more than so many tokens of input");
const perUse = z
  .partialRecord(z.enum(PRICEABLE_FEATURES), decimal)
  .describe("Prices of one use of features that vendors bill beside tokens");
const textPrice = z
  .strictObject({
    currency,
    per_million: perMillion,
    long_context: longContext.optional(),
    per_use: perUse.optional(),
  })
  .superRefine(checkLongContext)
  .superRefine(checkUses);

const facts = {
  display_name: z
    .string()
    .min(1)
    .refine(isPlainName, { error: inputError("input.plainName", {}) })
    .optional()
    .describe("Name in the list of models; the id where absent"),
  owned_by: z.string().min(1).optional().describe("Owner in the list of models; gateway where absent"),
  created: date.optional().describe("Date in the list of models; 1970-01-01 where absent"),
  enabled: z.boolean().optional().describe("False hides the model from callers"),
  retired: z.boolean().optional().describe("True refuses calls with model_retired"),
  shutdown_date: date.optional().describe("Shown in the list of models; the model stays callable"),
  modalities: z
    .strictObject({ input: words, output: words })
    .optional()
    .describe("What a text model reads and writes, in the list of models; text where absent"),
  allowed_features: z
    .array(z.enum(FEATURES))
    .optional()
    .describe("Features that vendors bill apart or that name the operator's objects; others are refused"),
};

/** An entry of a catalogue file, or of `models` in the configuration file. Every field is optional. */
export const modelEntrySchema = z.strictObject({
  ...facts,
  type: z
    .enum(["image", "chat", "messages", "embedding"])
    .optional()
    .describe(
      "Required for a model of your own. chat and messages are text models, which every text protocol reaches",
    ),
  family: z
    .enum(["A", "B", "C", "D"])
    .optional()
    .describe("Required for image models: which fields requests may have"),
  upstream_model: z.string().min(1).optional(),
  image: z
    .strictObject({
      ...capability,
      qualities: words.describe(QUALITIES),
      backgrounds: words.describe(BACKGROUNDS),
      max_images_per_call: count.describe(IMAGES_PER_CALL),
    })
    .partial()
    .optional(),
  dimensions: count
    .optional()
    .describe("Required for embedding models: of a vector where the request names no number"),
  default_output_tokens: count
    .optional()
    .describe("Output that limits count for a request without a maximum; 4096 where absent"),
  max_output_tokens: count.optional().describe("Required for text models: largest output of a call"),
  context_window: count
    .optional()
    .describe("Tokens of the context; a longer input goes to targets with a larger or unknown one"),
  reasoning: z
    .enum(REASONING_CONTROLS)
    .optional()
    .describe("Form in which the vendor receives reasoning settings of callers of another protocol"),
  price: z
    .strictObject({
      currency,
      per_image: perImage,
      per_million: perMillion.partial().describe("Prices of a million tokens"),
      long_context: longContext,
      per_use: perUse,
    })
    .partial()
    .optional()
    .describe("Amounts are decimals in quotes. A model without a price is refused with 402 and not listed"),
  prices: z
    .record(z.string().min(1), textPrice)
    .optional()
    .describe(
      "Prices of models that a pattern covers, by their name behind its beginning, or patterns of it",
    ),
});

export const imageModelSchema = z.strictObject({
  ...facts,
  type: z.literal("image"),
  family: z.enum(["A", "B", "C", "D"]),
  image: z.strictObject(capability).superRefine(checkCapability),
  price: z.strictObject({ currency, per_image: perImage }).optional(),
});

export const textModelSchema = z.strictObject({
  ...facts,
  type: z.enum(["chat", "messages"]),
  family: z.undefined({ error: inputError("input.family", {}) }).optional(),
  default_output_tokens: count.default(4096),
  max_output_tokens: count,
  context_window: count
    .optional()
    .describe("Tokens of the context; a longer input goes to targets with a larger or unknown one"),
  reasoning: z
    .enum(REASONING_CONTROLS)
    .optional()
    .describe("Form in which the vendor receives reasoning settings of callers of another protocol"),
  price: textPrice.optional(),
  prices: z
    .record(z.string().min(1), textPrice)
    .optional()
    .describe(
      "Prices of models that a pattern covers, by their name behind its beginning, or patterns of it",
    ),
});

export const embeddingModelSchema = z.strictObject({
  ...facts,
  type: z.literal("embedding"),
  dimensions: count.describe("Of a vector where the request names no number"),
  price: z
    .strictObject({ currency, per_million: perMillion.extend({ output: decimal.default("0") }) })
    .optional(),
});

export type ModelEntry = z.output<typeof modelEntrySchema>;
export type CompleteModel =
  | z.output<typeof imageModelSchema>
  | z.output<typeof textModelSchema>
  | z.output<typeof embeddingModelSchema>;

type Capability = z.output<z.ZodObject<typeof capability>>;

interface TextPrice {
  per_million: object;
  long_context?: { per_million: object } | undefined;
}

/**
 * Reports a long-context amount of a category that has no base amount. A category without a base amount uses the base
 * and the long-context amount of a related category, so its own long-context amount would never apply.
 */
function checkLongContext({ per_million, long_context }: TextPrice, context: z.RefinementCtx): void {
  if (!long_context) return;
  const names = Object.keys(long_context.per_million);
  const path = ["long_context", "per_million"];
  if (names.length === 0) context.addIssue(inputIssue(path, operatorMessage("input.empty", {})));
  for (const name of names.filter((each) => !Object.hasOwn(per_million, each)))
    context.addIssue(inputIssue([...path, name], operatorMessage("input.shortPrice", {})));
}

function checkUses({ per_use = {} }: { per_use?: UsePrices | undefined }, context: z.RefinementCtx): void {
  for (const [name, amount] of entriesOf(per_use))
    if (!/^[0.]+$/.test(amount) && !isCountedFeature(name))
      context.addIssue(inputIssue(["per_use", name], operatorMessage("input.uncounted", {})));
}

type UsePrices = z.output<typeof perUse>;

function checkCapability(image: Capability, context: z.RefinementCtx): void {
  const report = (path: string[], words: OperatorMessage) => context.addIssue(inputIssue(path, words));
  if (image.size_mode === "pixels" && !image.bounds) report(["bounds"], operatorMessage("input.bounds", {}));
  for (const name of image.tiers) {
    const isEmpty = Object.keys(image.sizes[name] ?? {}).length === 0;
    if (isEmpty && image.size_mode === "table") report(["sizes", name], operatorMessage("input.sizes", {}));
  }
  for (const [name, sizes] of Object.entries(image.sizes))
    for (const key of Object.keys(sizes))
      if (!image.ratios.includes(key))
        report(["sizes", name, key], operatorMessage("input.ratioOfModel", {}));
  if (image.default_quality !== undefined && !image.qualities.includes(image.default_quality))
    report(["default_quality"], operatorMessage("input.qualityOfModel", {}));
}
