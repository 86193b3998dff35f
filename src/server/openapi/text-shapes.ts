import { z } from "zod";

/* The published responses of text endpoints. The dialects publish the requests. */

const imagePartSchema = z
  .looseObject({ type: z.string() })
  .describe("`text`, or `image_url` with a `data:` URL or a public https link");

const chatMessageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(imagePartSchema)]).nullish(),
});

const tokenUsageSchema = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int().optional(),
  total_tokens: z.int(),
});

export const chatResponse = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: chatMessageSchema,
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: tokenUsageSchema.optional(),
});

export const completionsResponse = z.object({
  id: z.string(),
  object: z.literal("text_completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      text: z.string(),
      index: z.int(),
      logprobs: z.null(),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: tokenUsageSchema.optional(),
});

const blockSchema = z.looseObject({ type: z.string() });

export const messagesResponse = z.looseObject({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(blockSchema),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});

export const countResponse = z.looseObject({ input_tokens: z.int() });
export const responsesCountResponse = countResponse.extend({ object: z.literal("response.input_tokens") });

export const responsesResponse = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  model: z.string(),
  status: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }).nullish(),
});

export const embeddingsResponse = z.looseObject({
  object: z.literal("list"),
  model: z.string(),
  data: z.array(
    z.looseObject({
      object: z.literal("embedding"),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: tokenUsageSchema,
});

const nativePartSchema = z.looseObject({
  text: z.string().optional(),
  inlineData: z.looseObject({ mimeType: z.string().optional(), data: z.string() }).optional(),
  fileData: z.looseObject({ fileUri: z.string() }).optional(),
});

const nativeTurnSchema = z.looseObject({
  role: z.string().optional(),
  parts: z.union([nativePartSchema, z.array(nativePartSchema)]).optional(),
});

export const nativeResponse = z.looseObject({
  candidates: z.array(z.looseObject({ content: nativeTurnSchema.optional() })).optional(),
  usageMetadata: z.looseObject({}).optional(),
  modelVersion: z.string().optional(),
});

const vectorSchema = z.object({ values: z.array(z.number()) });
const embedUsageSchema = z.object({ promptTokenCount: z.int() });

export const nativeEmbedding = z.object({ embedding: vectorSchema, usageMetadata: embedUsageSchema });
export const nativeEmbeddings = z.object({
  embeddings: z.array(vectorSchema),
  usageMetadata: embedUsageSchema,
});

export const nativeCountResponse = z.looseObject({ totalTokens: z.int() });
