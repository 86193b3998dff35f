import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import type { PromptRecord } from "./prompt-schema.ts";

/** What was said in a request; reading it is audited. Throws 404 where nothing is kept. */
export async function readPrompt({ store, by }: AdminContext, id: string): Promise<PromptRecord> {
  const record = await store.prompts.read(id, by);
  if (record) return record;
  const message = `nothing is kept of what was said in "${id}": the organization's setting promptLogDays decides`;
  throw new AdminError(404, "id", message);
}
