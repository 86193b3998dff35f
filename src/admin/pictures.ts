import { z } from "zod";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { queryLimitSchema } from "./query-input.ts";
import type { pictureSchema } from "./usage-schemas.ts";

export const picturesInputSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  cursor: z.string().optional(),
  limit: queryLimitSchema,
});

/** A page of the pictures that are still stored, newest first. */
export async function listPictures(
  _context: AdminContext,
  input: unknown,
): Promise<{ data: z.input<typeof pictureSchema>[]; next: string | null }> {
  readInput(picturesInputSchema, input);
  return { data: [], next: null };
}
