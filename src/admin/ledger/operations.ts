import { z } from "zod";
import { marginOf, type LedgerEntry } from "../../domain/ledger.ts";
import { TOKEN_CATEGORIES } from "../../domain/usage.ts";
import { formatNanos } from "../../lib/money.ts";
import { getCharge, ledgerListSchema, listLedger, refund, refundSchema } from "./ledger.ts";
import { verifyLedger } from "./upkeep.ts";
import { operation } from "../operation.ts";
import { amountViewSchema, isoTime, isoTimeSchema, pageOf } from "../output.ts";
import { verificationSchema } from "./verification-schema.ts";

const usageSchema = z.discriminatedUnion("unit", [
  z.object({
    unit: z.literal("token"),
    tokens: z.partialRecord(z.enum(TOKEN_CATEGORIES), z.int()),
    uses: z.record(z.string(), z.int()).optional(),
    source: z.enum(["upstream", "estimated"]),
    anomalous: z.boolean().optional(),
  }),
  z.object({
    unit: z.literal("image"),
    count: z.int(),
    tier: z.enum(["1K", "2K", "4K"]),
    quality: z.string(),
  }),
]);

const attemptSchema = z.object({
  channel: z.string(),
  upstreamModel: z.string(),
  durationMs: z.number(),
  outcome: z.string().describe("answered, or what ended the call"),
  status: z.int().optional().describe("HTTP status of the vendor"),
  isAmbiguous: z.boolean().optional().describe("The vendor may have done the work"),
  vendorRequestId: z.string().optional(),
  ignoredParams: z
    .array(z.string())
    .readonly()
    .optional()
    .describe("The caller's fields that had no effect at this vendor"),
});

const entrySchema = z.object({
  id: z.string(),
  kind: z.enum(["charge", "refund", "adjustment"]),
  requestId: z.string(),
  organizationId: z.string(),
  keyId: z.string(),
  source: z
    .string()
    .optional()
    .describe("`playground/` and a member's name; absent where the holder of the key called"),
  client: z
    .string()
    .optional()
    .describe("The program that called, of a fixed list; absent where it named none"),
  model: z.string(),
  channel: z.string(),
  upstreamModel: z.string(),
  at: isoTimeSchema,
  admittedAt: isoTimeSchema.optional(),
  usage: usageSchema.nullable(),
  amount: amountViewSchema,
  currency: z.string(),
  priceSource: z.enum(["organization", "default"]),
  orphanCost: amountViewSchema.describe("Estimated cost of calls without a delivered response; never billed"),
  vendorCost: z.object({ amount: amountViewSchema, currency: z.string() }).optional(),
  margin: amountViewSchema.nullable().optional(),
  budgets: z.array(z.string()),
  attempts: z.array(attemptSchema),
  flags: z.array(z.string()),
  corrects: z.string().optional().describe("Id of the charge that this corrects"),
  sequence: z.int().optional().describe("Grows in the order of posting"),
});

export const ledgerOperations = {
  "ledger.list": operation({
    method: "GET",
    path: "/ledger",
    summary: "Charges, refunds and adjustments, newest first, or in the order of posting",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: ledgerListSchema,
    output: pageOf(entrySchema),
    async run(context, input) {
      const { entries, next } = await listLedger(context, input);
      return { data: entries.map(toEntryView), next };
    },
  }),
  "ledger.get": operation({
    method: "GET",
    path: "/ledger/{id}",
    summary: "A charge with its refunds and adjustments",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: z.strictObject({ id: z.string() }),
    output: z.object({
      charge: entrySchema,
      corrections: z.array(entrySchema),
      net: amountViewSchema,
      currency: z.string(),
    }),
    async run(context, { id }) {
      const { charge, corrections, net } = await getCharge(context, id);
      return {
        charge: toEntryView(charge),
        corrections: corrections.map(toEntryView),
        net: formatNanos(net),
        currency: charge.currency,
      };
    },
  }),
  "ledger.refund": operation({
    method: "POST",
    path: "/ledger/{id}/refund",
    summary: "Refund a charge, or part of it",
    role: "billing",
    reach: "installation",
    cost: "page",
    input: refundSchema.extend({ id: z.string() }),
    output: entrySchema,
    run: async (context, { id, ...input }) => toEntryView(await refund(context, id, input)),
  }),
  "ledger.verify": operation({
    method: "GET",
    path: "/ledger/verify",
    summary: "Compare the ledger with budgets, leases and the journals of the machine that is asked",
    role: "admin",
    reach: "installation",
    cost: "verification",
    input: z.strictObject({}),
    output: verificationSchema,
    run: (context) => verifyLedger(context),
  }),
};

export type EntryView = z.output<typeof entrySchema>;

/** Returns an entry with money as decimals and times as ISO 8601. */
export function toEntryView(entry: LedgerEntry): EntryView {
  const { amount, orphanCost, at, admittedAt, vendorCost, usage, ...shown } = entry;
  const margin = marginOf(entry);
  return {
    ...shown,
    usage: usage && shownUsage(usage),
    at: isoTime(at),
    ...(admittedAt !== undefined && { admittedAt: isoTime(admittedAt) }),
    amount: formatNanos(amount),
    orphanCost: formatNanos(orphanCost),
    ...(vendorCost && {
      vendorCost: { ...vendorCost, amount: formatNanos(vendorCost.amount) },
      margin: margin === null ? null : formatNanos(margin),
    }),
    budgets: [...entry.budgets],
    attempts: [...entry.attempts],
    flags: [...entry.flags],
  };
}

function shownUsage({ vendorCost: _cost, ...usage }: NonNullable<LedgerEntry["usage"]>) {
  return usage as NonNullable<EntryView["usage"]>;
}
