import { z } from "zod";
import type { Limits } from "../domain/limits.ts";
import { formatNanos, parseNanos } from "../lib/money.ts";

const LIMIT_NAMES = [
  "requestsPerMinute",
  "tokensPerMinute",
  "imagesPerMinute",
  "concurrentImages",
  "queuedJobs",
  "runningJobs",
] as const satisfies readonly (keyof Limits)[];

/** Writes Unix milliseconds as ISO 8601 in UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

export const isoTimeSchema = z.iso.datetime().describe("ISO 8601 in UTC");

/** A time: Unix milliseconds in a record, ISO 8601 in its view. */
export const timeCodec = z
  .codec(z.iso.datetime(), z.number(), { decode: (text) => Date.parse(text), encode: isoTime })
  .describe("ISO 8601 in UTC");

/** Returns the schema of a page of a list. `next` is the cursor of the next page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

export const versionViewSchema = z
  .int()
  .describe("Revision of its last change; name it in an update to be told of changes in between");

/** An amount of money in a view, never a float. */
export const amountViewSchema = z.string().describe("Decimal");

/** An amount: nano-units in a record, a decimal in its view. Refunds can make a sum negative. */
export const amountCodec = z
  .codec(z.string(), z.bigint(), {
    decode: (text) => (text.startsWith("-") ? -parseNanos(text.slice(1)) : parseNanos(text)),
    encode: formatNanos,
  })
  .describe("Decimal");

/** The code of a sentence for operators. Later versions may have further codes. */
export const messageCodeSchema = z.string();

/** Figures of a sentence. Amounts are exact decimals in `currency`. */
export const figuresSchema = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .readonly()
  .describe("The numbers and names of the message");

/** The fields of a sentence for operators. */
export const operatorMessageFields = {
  message: z.string().describe("A sentence in English"),
  code: messageCodeSchema.describe("Which sentence it is, for translations"),
  figures: figuresSchema,
};

export const doneSchema = z.object({ done: z.literal(true) });

export const limitsViewSchema = z
  .partialRecord(z.enum(LIMIT_NAMES), z.int().nullable())
  .describe("What differs from the defaults; null is unlimited");
