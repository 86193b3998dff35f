import { z } from "zod";
import { operation } from "../operation.ts";
import { promptRemovalSchema, promptSchema, type PromptRecord } from "./schema.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { getOrganization } from "../organizations/organizations.ts";

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
  "prompts.remove": operation({
    method: "DELETE",
    path: "/prompts",
    summary:
      "Delete kept prompts and replies of an organization: all, or those of a request, a key or a time",
    role: "admin",
    reach: "organization",
    cost: "report",
    input: promptRemovalSchema,
    output: z.object({ removed: z.int().describe("Number of requests whose prompt and reply were deleted") }),
    async run(context, selected) {
      await getOrganization(context, selected.organizationId);
      return { removed: await context.store.prompts.remove(selected, context.by) };
    },
  }),
};

/** Returns the logged prompt and reply of a request, and audits the reading. Throws 404 when nothing is kept. */
async function readPrompt({ store, by }: AdminContext, id: string): Promise<PromptRecord> {
  const record = await store.prompts.read(id, by);
  if (record) return record;
  const message = `nothing is kept of what was said in "${id}": the organization's setting promptLogDays decides`;
  throw new AdminError(404, "id", message);
}
