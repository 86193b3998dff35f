import type { Candidate, CountTokensResponse, GenerateContentResponse, Model } from "@google/genai";
import { z } from "zod";
import { count } from "./fields.ts";

/*
 * Responses of the native protocol (@google/genai 2.32.0). They are protobuf messages, whose published types require no
 * fields. Required here are the fields that the reference shows in every reply.
 */
const details = z.array(z.object({ modality: z.string(), tokenCount: count.optional() })).optional();

const part = z
  .object({
    text: z.string(),
    thought: z.boolean(),
    thoughtSignature: z.base64(),
    inlineData: z.object({ mimeType: z.string().min(1), data: z.base64() }),
    fileData: z.object({ mimeType: z.string().optional(), fileUri: z.url() }),
    functionCall: z.object({
      id: z.string().optional(),
      name: z.string().min(1),
      args: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .partial();

const candidate = z.object({
  content: z.object({ role: z.literal("model").optional(), parts: z.array(part).optional() }).optional(),
  finishReason: z
    .string()
    .regex(/^[A-Z_]+$/)
    .optional() as unknown as z.ZodType<Candidate["finishReason"]>,
  index: count.optional(),
  safetyRatings: z
    .array(z.looseObject({ category: z.string(), probability: z.string() }))
    .optional() as unknown as z.ZodType<Candidate["safetyRatings"]>,
});

/** The members of the client's class that are sent over the network. */
type Reply = Pick<GenerateContentResponse, "candidates" | "promptFeedback" | "modelVersion" | "responseId">;

export const nativeReply = z
  .object({
    candidates: z.array(candidate).optional(),
    promptFeedback: z
      .object({ blockReason: z.string().regex(/^[A-Z_]+$/) })
      .optional() as unknown as z.ZodType<GenerateContentResponse["promptFeedback"]>,
    usageMetadata: z
      .object({
        promptTokenCount: count.optional(),
        cachedContentTokenCount: count.optional(),
        candidatesTokenCount: count.optional(),
        thoughtsTokenCount: count.optional(),
        toolUsePromptTokenCount: count.optional(),
        totalTokenCount: count.optional(),
        promptTokensDetails: details,
        candidatesTokensDetails: details,
      })
      .optional(),
    modelVersion: z.string().min(1).optional(),
    responseId: z.string().min(1).optional(),
  })
  .refine(({ candidates, promptFeedback, usageMetadata }) => candidates ?? promptFeedback ?? usageMetadata, {
    message: "no candidates, feedback or usage",
  }) satisfies z.ZodType<Reply>;

export const nativeCount = z.object({
  totalTokens: count,
}) satisfies z.ZodType<Pick<CountTokensResponse, "totalTokens">>;

export const nativeModel = z.object({
  name: z.string().startsWith("models/"),
  version: z.string(),
  displayName: z.string(),
  description: z.string(),
  outputTokenLimit: count.optional(),
  supportedGenerationMethods: z.array(z.string()),
}) satisfies z.ZodType<Model>;

export const nativeModelList = z.object({
  models: z.array(nativeModel),
  nextPageToken: z.string().min(1).optional(),
});

/** `google.rpc.Status` as JSON. */
export const nativeError = z.object({
  error: z.object({
    code: z.int().min(400).max(599),
    message: z.string().min(1),
    status: z.string().regex(/^[A-Z_]+$/),
    details: z.array(z.looseObject({ "@type": z.string().startsWith("type.googleapis.com/") })).optional(),
  }),
});
