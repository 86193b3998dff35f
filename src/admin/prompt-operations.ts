import { z } from "zod";
import { operation } from "./operation.ts";
import { isoTime, isoTimeSchema } from "./output.ts";
import { readPrompt } from "./prompts.ts";

const promptSchema = z.object({
  id: z.string().describe("Of the request"),
  at: isoTimeSchema,
  organizationId: z.string(),
  keyId: z.string(),
  model: z.string().nullable(),
  prompt: z.string().describe("Body of a text request, or the prompt of pictures; without personal data"),
  reply: z.string().describe("Body of a whole reply, or what a stream said; empty for pictures"),
  expiresAt: isoTimeSchema,
});

export const promptOperations = {
  "prompts.get": operation({
    method: "GET",
    path: "/prompts/{id}",
    summary: "What was said in a request, where its organization has that logged; reading it is audited",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: z.strictObject({ id: z.string() }),
    output: promptSchema,
    async run(context, { id }) {
      const { at, expiresAt, ...record } = await readPrompt(context, id);
      return { ...record, at: isoTime(at), expiresAt: isoTime(expiresAt) };
    },
  }),
};
