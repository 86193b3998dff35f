import { z } from "zod";

/* The published schemas of text endpoints. Other fields of a request are forwarded to the vendor. */

const countSchema = z.int().min(1).nullish();

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

export const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessageSchema).min(1),
  stream: z.boolean().nullish().describe("Server-sent events in place of one object"),
  max_tokens: countSchema,
  max_completion_tokens: countSchema,
  n: countSchema,
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.unknown().optional(),
  response_format: z.unknown().optional(),
  reasoning_effort: z.string().nullish(),
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

const blockSchema = z.looseObject({ type: z.string() });

const turnSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(blockSchema)]),
});

const messageFields = {
  model: z.string(),
  messages: z.array(turnSchema).min(1),
  system: z.union([z.string(), z.array(blockSchema)]).nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
};

export const messagesRequest = z.looseObject({
  ...messageFields,
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish().describe("Server-sent events in place of one object"),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.looseObject({}).nullish(),
});

export const messagesResponse = z.looseObject({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(blockSchema),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});

export const countRequest = z.looseObject(messageFields);
export const countResponse = z.looseObject({ input_tokens: z.int() });

export const responsesRequest = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.looseObject({}))]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish().describe("Server-sent events in place of one object"),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: countSchema,
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.unknown().optional(),
  text: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  store: z.boolean().nullish().describe("Accepted; nothing is stored here"),
});

export const responsesResponse = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  model: z.string(),
  status: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }).nullish(),
});

export const embeddingsRequest = z.looseObject({
  model: z.string().describe("A model of the type `embedding`"),
  input: z.union([z.string(), z.array(z.unknown()).min(1).max(2048)]),
  dimensions: countSchema,
  encoding_format: z.enum(["float", "base64"]).nullish(),
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

export const nativeRequest = z.looseObject({
  contents: z.union([nativeTurnSchema, z.array(nativeTurnSchema).min(1)]),
  systemInstruction: z.looseObject({}).nullish(),
  generationConfig: z
    .looseObject({
      maxOutputTokens: countSchema,
      candidateCount: z.unknown().optional(),
      responseModalities: z.array(z.string()).nullish().describe("Contains `IMAGE` for pictures"),
      imageConfig: z
        .looseObject({ aspectRatio: z.string().nullish(), imageSize: z.string().nullish() })
        .nullish(),
    })
    .nullish(),
  tools: z.array(z.looseObject({})).nullish(),
});

export const nativeResponse = z.looseObject({
  candidates: z.array(z.looseObject({ content: nativeTurnSchema.optional() })).optional(),
  usageMetadata: z.looseObject({}).optional(),
  modelVersion: z.string().optional(),
});

export const nativeCountResponse = z.looseObject({ totalTokens: z.int() });
