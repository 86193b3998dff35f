import { z } from "zod";

/* The published shapes of models and prices. */

const modelSchema = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  display_name: z.string(),
  type: z.enum(["image", "chat", "messages", "embedding"]),
  family: z.string().nullable(),
  endpoints: z.array(z.string()),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  parameters: z.looseObject({}),
  limits: z.looseObject({}),
  pricing_url: z.string(),
  shutdown_date: z.string().optional(),
});

const messagesModelSchema = z.looseObject({
  type: z.literal("model"),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
});

export const model = z.union([modelSchema, messagesModelSchema]);

export const modelList = z.union([
  z.object({ object: z.literal("list"), data: z.array(modelSchema) }),
  z
    .object({
      data: z.array(messagesModelSchema),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    })
    .describe("With the header `anthropic-version`"),
]);

export const nativeModel = z.looseObject({ name: z.string() });

export const nativeModelList = z.looseObject({
  models: z.array(nativeModel),
  nextPageToken: z.string().optional(),
});

export const nativeModelQuery = z.object({
  pageSize: z.int().min(1).optional(),
  pageToken: z.string().optional(),
});

const decimals = z.record(z.string(), z.string());

const common = {
  object: z.literal("price"),
  model: z.string(),
  currency: z.string(),
  source: z.enum(["organization", "default"]),
  effective_from: z.string().nullable(),
};

const priceSchema = z.union([
  z.object({
    ...common,
    unit: z.literal("image"),
    tier: z.string(),
    quality: z.string(),
    unit_price: z.string().describe("Of one picture, decimal"),
    total: z.string(),
    settles_by: z.literal("delivered").optional(),
  }),
  z.object({
    ...common,
    unit: z.literal("token"),
    prices: decimals.describe("Of a million tokens by category"),
    long_context: z.array(z.object({ above: z.int(), prices: decimals })).optional(),
    per_use: decimals.optional(),
  }),
]);

export const prices = z.union([
  priceSchema,
  z.object({ object: z.literal("list"), data: z.array(priceSchema) }),
]);

export const priceQuery = z.object({
  model: z.string().optional().describe("All prices where it is absent"),
  size: z.string().optional(),
  aspectRatio: z.string().optional(),
  quality: z.string().optional(),
  n: z.int().min(1).max(4).optional(),
});
