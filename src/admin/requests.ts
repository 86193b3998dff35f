import { z } from "zod";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { queryLimitSchema, queryTimeSchema } from "./query-input.ts";
import type { requestRowSchema } from "./usage-schemas.ts";

export const requestsInputSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  requestId: z.string().optional().describe("The caller's"),
  outcome: z.enum(["succeeded", "failed"]).optional(),
  statusClass: z.enum(["2xx", "4xx", "5xx"]).optional(),
  code: z.string().optional().describe("Error code"),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional().describe("Exclusive"),
  cursor: z.string().optional(),
  limit: queryLimitSchema,
});

/** A page of requests, newest first. */
export async function listRequests(
  _context: AdminContext,
  input: unknown,
): Promise<{ data: z.input<typeof requestRowSchema>[]; next: string | null }> {
  readInput(requestsInputSchema, input);
  return { data: [], next: null };
}
