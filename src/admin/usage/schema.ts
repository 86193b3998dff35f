import { z } from "zod";
import { TOKEN_CATEGORIES } from "../../domain/usage.ts";
import { isoTimeSchema } from "../output.ts";
import { channelHealthSchema, statusSchema } from "../status/schema.ts";
import { recordFrom } from "../../lib/json.ts";
import { inputError } from "../../domain/schema-problems.ts";

const decimal = z.string().describe("Decimal of at most nine places");
const milliseconds = z.number().nullable().describe("Milliseconds; null where nothing was measured");
const count = z.int();

const spendShape = {
  amount: decimal.describe("Charges less refunds, in `currency`"),
  requests: count,
  images: count,
  tokens: count.describe("Of all categories"),
};

const trafficShape = {
  errors: count.describe("Requests that were refused or failed"),
  p50Ms: milliseconds,
  p95Ms: milliseconds,
};

const currenciesShape = {
  currency: z.string().describe("ISO 4217; amounts are in it, everything else counts all currencies"),
  currencies: z.array(z.string()).describe("Every currency of the range"),
};

const rangeShape = {
  from: isoTimeSchema,
  to: isoTimeSchema.describe("Exclusive"),
  isUnfinished: z.boolean().describe("The last step of the series has not ended"),
  zone: z
    .string()
    .describe("Time zone of the days of the series; UTC in ranges that are too long for others"),
};
export const zoneSchema = z
  .string()
  .refine(isTimeZone, { error: inputError("input.timeZone", {}) })
  .optional()
  .describe(
    "Time zone of days, in ranges of at most 124 days, and of 32 days by key, and by member or client of a key, model or channel; UTC by default",
  );

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export const intervalSchema = z.enum(["minute", "quarter", "hour", "day", "month"]);

const shareSchema = z.object({
  id: z.string().describe("Empty where none applies, as of a request without a channel"),
  name: z.string(),
  ...spendShape,
  errors: count,
  share: z.number().describe("Of the amount, from 0 to 1"),
});

const periodSchema = z.enum(["total", "day", "month"]);

export const budgetUseSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  keyId: z.string().nullable(),
  keyName: z.string().nullable(),
  amount: decimal,
  spent: decimal,
  held: decimal.describe("Held for requests: by those that run, and by processes for the next ones"),
  left: decimal,
  period: periodSchema,
  periodStart: isoTimeSchema,
  periodEnd: isoTimeSchema.nullable(),
  currency: z.string(),
  forecast: decimal
    .nullable()
    .describe("What will be spent at the end of the period at the pace so far; null without an end"),
  lastsUntil: isoTimeSchema.nullable().describe("When it is used up at this pace; null when it lasts"),
});

export const overviewSchema = z.object({
  ...rangeShape,
  interval: intervalSchema,
  ...currenciesShape,
  totals: z.object({ ...spendShape, ...trafficShape }),
  previous: z.object({ ...spendShape, ...trafficShape }).describe("Of the range of the same length before"),
  series: z.array(z.object({ at: isoTimeSchema, ...spendShape, ...trafficShape })),
  spend: z
    .array(z.object({ id: z.string(), amounts: z.array(decimal) }))
    .describe("Amounts of the dearest models, and of `other`, for each point of the series"),
  top: z.object({
    models: z.array(shareSchema),
    keys: z.array(shareSchema),
    organizations: z.array(shareSchema),
    channels: z.array(shareSchema),
  }),
  budgets: z.array(budgetUseSchema),
  status: statusSchema.describe("Whether all is well now"),
  channels: z.array(channelHealthSchema.extend({ id: z.string() })),
  checklist: z.object({
    picture: z.boolean(),
    key: z.boolean(),
    vendor: z.boolean(),
    budget: z.boolean(),
    alert: z.boolean(),
  }),
});

const tokensByCategory = z.object(recordFrom(TOKEN_CATEGORIES, () => count));

const usageShape = {
  ...spendShape,
  tokensByCategory,
  orphanCost: decimal.describe("Likely cost of vendor calls that nobody received; never billed"),
  vendorCost: decimal.describe("What vendors say that their work cost, where they say it in this currency"),
  margin: decimal.describe("Of the charges with a vendor's cost: their amount less that cost"),
};

export const usageSchema = z.object({
  ...rangeShape,
  interval: intervalSchema,
  ...currenciesShape,
  totals: z.object({ ...usageShape, errors: count }),
  previous: z.object(spendShape).describe("Of the range of the same length before"),
  groupCount: count.describe("Of all groups, of which those of the highest amounts are listed"),
  series: z.array(z.object({ at: isoTimeSchema, ...usageShape })),
  groups: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      ...usageShape,
      errors: count
        .nullable()
        .describe(
          "Requests that were refused or failed; null by member and client, as only the ledger knows those",
        ),
      share: z.number().describe("Of the amount, from 0 to 1"),
      previousAmount: decimal.describe("In the range of the same length before"),
      points: z.array(z.object({ at: isoTimeSchema, ...spendShape })),
    }),
  ),
});

export const requestRowSchema = z.object({
  id: z.string().describe("The gateway's own id, which is that of its ledger entry"),
  requestId: z.string().describe("The caller's `X-Request-Id`, or the same"),
  at: isoTimeSchema,
  route: z.string().nullable().describe("Null where only the ledger knows it"),
  organizationId: z.string().nullable(),
  keyId: z.string().nullable(),
  keyName: z.string().nullable(),
  model: z.string().nullable(),
  askedModel: z.string().nullable().describe("The name that the caller gave, where no model has it"),
  channel: z.string().nullable(),
  status: count,
  code: z.string().nullable().describe("Error code; null when it succeeded"),
  message: z.string().nullable().describe("What the caller was told, without secrets"),
  isFailed: z.boolean(),
  durationMs: z.number().nullable(),
  attempts: count,
  amount: decimal.nullable().describe("Null when nothing was charged"),
  currency: z.string().nullable(),
  images: count,
  tokens: count,
  flags: z.array(z.string()),
  source: z
    .string()
    .nullable()
    .describe("`playground/` and a member's name; null where the holder of the key called"),
});

const attemptSchema = z.object({
  channel: z.string(),
  upstreamModel: z.string(),
  outcome: z.string(),
  status: count.nullable(),
  durationMs: z.number(),
  isAmbiguous: z.boolean().describe("The vendor may have done the work although no reply came"),
  vendorRequestId: z.string().nullable(),
  ignoredParams: z.array(z.string()).describe("The caller's fields that had no effect at this vendor"),
});

const ledgerLineSchema = z.object({
  id: z.string(),
  kind: z.enum(["charge", "refund", "adjustment"]),
  at: isoTimeSchema,
  amount: decimal,
  currency: z.string(),
  orphanCost: decimal,
  vendorCost: z.object({ amount: decimal, currency: z.string() }).nullable(),
  priceSource: z.enum(["organization", "default"]),
  budgets: z.array(z.string()),
  flags: z.array(z.string()),
});

const costLineSchema = z.object({
  what: z.string().describe("A token category, `image`, or a feature that is billed by use"),
  detail: z.string().nullable().describe("Of images `tier:quality`; `long_context` of tokens at that price"),
  quantity: count,
  unitPrice: decimal,
  per: count.describe("So many units the price is for"),
  amount: z.string().describe("Exact; it may have more than nine places"),
  source: z.enum(["organization", "default"]),
  effectiveFrom: isoTimeSchema.nullable().describe("Null for a price that always held"),
});

export const requestDetailSchema = z.object({
  request: requestRowSchema.extend({
    method: z.string().nullable(),
    path: z.string().nullable(),
    address: z.string().nullable(),
    traceId: z.string().nullable(),
    firstByteMs: z.number().nullable(),
    tokensPerSecond: z.number().nullable().describe("Of the output, from the first byte of a stream on"),
    client: z.string().nullable().describe("The program that called, as it named itself"),
    isStream: z.boolean().nullable(),
    cause: z.string().nullable().describe("For members of all organizations; never the caller's content"),
  }),
  attempts: z.array(attemptSchema),
  ledger: z.array(ledgerLineSchema),
  net: decimal.nullable().describe("The charge with its corrections"),
  cost: z
    .object({
      currency: z.string(),
      lines: z.array(costLineSchema),
      sum: decimal.describe("Of the lines, rounded once, half up"),
      isExact: z
        .boolean()
        .describe("False when prices have changed since, so the lines do not tell the charge"),
    })
    .nullable(),
  others: z
    .array(z.object({ id: z.string(), at: isoTimeSchema }))
    .describe("Earlier requests with the same request id"),
});

export const pictureSchema = z.object({
  id: z.string(),
  at: isoTimeSchema,
  organizationId: z.string(),
  keyId: z.string(),
  model: z.string(),
  requestId: z.string(),
  ledgerId: z.string(),
  url: z
    .string()
    .describe("Signed and valid for a time; without a host where the gateway has no public address"),
  width: count,
  height: count,
  format: z.enum(["png", "jpeg", "webp"]),
  bytes: count,
});
