import { z } from "zod";
import type { BudgetLevel } from "../../domain/budget-level.ts";
import { amountSchema, versionSchema } from "../input.ts";
import { amountCodec, timeCodec, versionViewSchema } from "../output.ts";
import { pageFields } from "../paging.ts";

export const budgetSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  keyId: z.string().nullable().describe("Null holds for the whole organization"),
  keyName: z.string().nullable(),
  amount: amountCodec,
  spent: amountCodec,
  held: amountCodec.describe("Reserved for running requests, decimal"),
  currency: z.string().describe("ISO 4217"),
  period: z.enum(["total", "day", "month"]).describe("Days and months are in UTC"),
  periodStart: timeCodec,
  periodEnd: timeCodec.nullable(),
  forecast: amountCodec
    .nullable()
    .describe("What will be spent at the end of the period, going on as until now, decimal"),
  createdAt: timeCodec,
  version: versionViewSchema,
});

/** A stored budget in its current period. */
export type BudgetRecord = Omit<
  z.output<typeof budgetSchema>,
  "keyName" | "currency" | "periodEnd" | "forecast"
> & {
  /** Unix milliseconds of the store's clock at the reading. The same clock begins and ends periods. */
  readAt: number;
} & BudgetLevel;

/**
 * A process's lease on one budget that was not renewed for 15 minutes. A part of the lease may be spent by charges that
 * are still in the journal of the process.
 */
export const leaseSchema = z.object({
  processId: z.string(),
  budget: z.string().describe("Id of the budget"),
  amount: amountCodec,
  since: timeCodec.describe("When it would have had to be renewed"),
});

export type LeaseInDoubt = z.output<typeof leaseSchema>;

export const leaseListSchema = z.strictObject(pageFields);

export const budgetListSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  ...pageFields,
});

export const budgetChangeSchema = z.strictObject({
  amount: amountSchema.optional(),
  version: versionSchema,
});

export const budgetCreationSchema = z.strictObject({
  organizationId: z.string(),
  keyId: z.string().nullable().default(null),
  amount: amountSchema,
  period: z.enum(["total", "day", "month"]).default("total"),
});
