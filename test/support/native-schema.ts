import { z } from "zod";

/* Text replies of the native protocol, by its reference (`GenerateContentResponse`). Objects allow no other fields. */
const count = z.int().min(0);

const part = z
  .strictObject({
    text: z.string(),
    thought: z.boolean(),
    thoughtSignature: z.base64(),
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: z.string().min(1),
      args: z.record(z.string(), z.unknown()),
    }),
  })
  .partial()
  .refine((value) => "text" in value !== "functionCall" in value, "one kind of data a part");

const details = z.array(z.strictObject({ modality: z.string(), tokenCount: count }));

const usage = z.strictObject({
  promptTokenCount: count,
  cachedContentTokenCount: count.optional(),
  candidatesTokenCount: count.optional(),
  thoughtsTokenCount: count.optional(),
  toolUsePromptTokenCount: count.optional(),
  totalTokenCount: count.optional(),
  promptTokensDetails: details.optional(),
});

export const nativeReply = z.strictObject({
  candidates: z
    .array(
      z.strictObject({
        content: z.strictObject({ role: z.literal("model"), parts: z.array(part) }).optional(),
        finishReason: z.enum(["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"]).optional(),
        index: count,
      }),
    )
    .optional(),
  promptFeedback: z.strictObject({ blockReason: z.string() }).optional(),
  usageMetadata: usage.optional(),
  modelVersion: z.string(),
  responseId: z.string().min(1),
});
