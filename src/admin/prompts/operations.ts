import { z } from "zod";
import { operation } from "../operation.ts";
import { promptSchema, type PromptRecord } from "./schema.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";

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
    run: (context, { id }) => readPrompt(context, id),
  }),
};

/** Returns the logged prompt and reply of a request and audits the reading. Throws 404 where nothing is kept. */
async function readPrompt({ store, by }: AdminContext, id: string): Promise<PromptRecord> {
  const record = await store.prompts.read(id, by);
  if (record) return record;
  const message = `nothing is kept of what was said in "${id}": the organization's setting promptLogDays decides`;
  throw new AdminError(404, "id", message);
}
