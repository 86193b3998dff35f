import { z } from "zod";

/** Unix milliseconds as ISO 8601 in UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

export const isoTimeSchema = z.iso.datetime().describe("ISO 8601 in UTC");

/** A page of a list; `next` is the cursor of the page after it. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

export const versionViewSchema = z
  .int()
  .describe("Revision of its last change; name it in an update to be told of changes in between");

/** An amount of money; never a float. */
export const amountViewSchema = z.string().describe("Decimal");

export const doneSchema = z.object({ done: z.literal(true) });

export const limitsViewSchema = z
  .object({
    requestsPerMinute: z.int().nullable(),
    tokensPerMinute: z.int().nullable(),
    imagesPerMinute: z.int().nullable(),
    concurrentImages: z.int().nullable(),
    queuedJobs: z.int().nullable(),
    runningJobs: z.int().nullable(),
  })
  .partial()
  .describe("What differs from the defaults; null is unlimited");
