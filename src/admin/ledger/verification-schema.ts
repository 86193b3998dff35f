import { z } from "zod";
import { amountCodec, timeCodec } from "../output.ts";

/**
 * A difference between an expected and a found amount. `spent`: the spent amount of a budget, expected from its
 * bookings. `held`: the held amount of a budget, expected from its leases. `booking`: a booking, expected from its
 * entry. `journal`: a charge in the ledger, expected from its journal. `refused`: an entry that the database refused.
 * `quarantined`: a journal file that could not be read.
 */
const differenceSchema = z.object({
  check: z.enum(["spent", "held", "booking", "journal", "refused", "quarantined"]),
  subject: z.string(),
  expected: amountCodec.nullable(),
  found: amountCodec.nullable(),
});

export type LedgerDifference = z.output<typeof differenceSchema>;

/**
 * Result of comparing the ledger with budgets, leases and journals. At most 20,000 differences between entries and
 * bookings are counted.
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
