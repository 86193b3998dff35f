import { z } from "zod";
import { amountCodec, timeCodec } from "../output.ts";

/**
 * `spent`: of a budget, by its bookings. `held`: of a budget, by its leases. `booking`: of an entry, by the entry.
 * `journal`: of a charge in the ledger, by its journal. `refused`: an entry that the database did not take.
 * `quarantined`: a file of a journal that was not understood.
 */
const differenceSchema = z.object({
  check: z.enum(["spent", "held", "booking", "journal", "refused", "quarantined"]),
  subject: z.string(),
  expected: amountCodec.nullable(),
  found: amountCodec.nullable(),
});

export type LedgerDifference = z.output<typeof differenceSchema>;

/**
 * Comparison of the ledger with budgets, leases and journals. Counts at most 20,000 differences of entries with their
 * bookings.
 */
export const verificationSchema = z.object({
  at: timeCodec,
  entries: z.int(),
  budgets: z.int(),
  waiting: z.int().describe("Journaled charges that are not posted yet"),
  differenceCount: z.int(),
  differences: z.array(differenceSchema).describe("The first hundred"),
});

export type LedgerVerification = z.output<typeof verificationSchema>;
