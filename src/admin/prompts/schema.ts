import { z } from "zod";
import { timeCodec } from "../output.ts";

/** Prompt and reply of a request, without what looks like personal data or a secret. */
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

export type PromptRecord = z.output<typeof promptSchema>;
