import { z } from "zod";

/* The published schemas of models, prices and the usage of a key. */

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

const useFields = {
  requests: z.int(),
  amount: z.string(),
  images: z.int(),
  tokens: z.record(z.string(), z.int()).describe("By category"),
};

const modelUses = z.array(z.object({ ...useFields, model: z.string() }));

export const usage = z.object({
  object: z.literal("usage"),
  key: z.object({
    id: z.string(),
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(z.string()),
    expires_at: z.string().nullable(),
  }),
  from: z.string(),
  to: z.string(),
  currency: z.string(),
  totals: z.object(useFields),
  models: modelUses,
  days: z.array(z.object({ ...useFields, date: z.string(), models: modelUses })),
  budgets: z.array(
    z.object({
      scope: z.enum(["organization", "key"]),
      period: z.enum(["total", "day", "month"]),
      amount: z.string(),
      spent: z.string(),
      left: z.string(),
      currency: z.string(),
      period_end: z.string().nullable(),
    }),
  ),
  requests: z
    .array(
      z.object({
        id: z.string(),
        request_id: z.string(),
        at: z.string(),
        model: z.string().nullable(),
        status: z.int(),
        code: z.string().nullable(),
        message: z.string().nullable(),
        duration_ms: z.number().nullable(),
        amount: z.string().nullable(),
        currency: z.string().nullable(),
        images: z.int(),
        tokens: z.int(),
      }),
    )
    .describe("The last ones"),
  limits: z.array(
    z.object({
      scope: z.enum(["organization", "key"]),
      quantity: z.enum(["requests", "tokens", "images"]),
      per: z.literal("minute"),
      limit: z.int(),
      remaining: z.number(),
      reset_seconds: z.number(),
    }),
  ),
});

export const usageQuery = z.object({ days: z.int().min(1).max(90).default(30) });

export const priceQuery = z.object({
  model: z.string().optional().describe("All prices where it is absent"),
  size: z.string().optional(),
  aspectRatio: z.string().optional(),
  quality: z.string().optional(),
  n: z.int().min(1).max(4).optional(),
});
