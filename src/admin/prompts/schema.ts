import { z } from "zod";
import { queryTimeSchema } from "../input.ts";
import { timeCodec } from "../output.ts";

/** Prompt and reply of a request. Parts that look like personal data or a secret are removed. */
export const promptSchema = z.object({
  id: z.string().describe("Of the request"),
  at: timeCodec,
  organizationId: z.string(),
  keyId: z.string(),
  model: z.string().nullable(),
  prompt: z.string().describe("Body of a text request, or the prompt of pictures; without personal data"),
  reply: z.string().describe("Body of a whole reply, or what a stream said; empty for pictures"),
  expiresAt: timeCodec,
});

/** Selects kept prompts of an organization: all prompts, or the prompts that meet all given conditions. */
export const promptRemovalSchema = z.strictObject({
  organizationId: z.string().describe("Whose prompts and replies are deleted"),
  id: z.string().describe("Of this request only").optional(),
  keyId: z.string().describe("Of this key only; the key may be deleted").optional(),
  before: queryTimeSchema.optional().describe("Of requests before this time only"),
});

export type PromptRemoval = z.output<typeof promptRemovalSchema>;

export type PromptRecord = z.output<typeof promptSchema>;
