import { z } from "zod";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { charge as chargeFor, type Price, type PriceSource, resolvePrice } from "../../domain/price.ts";
import type { Nanos } from "../../lib/money.ts";
import { AdminError } from "../admin-error.ts";
import { requireModel, type AdminContext } from "../context.ts";
import { reasonSchema, timeSchema } from "../input.ts";
import { adjustedBy, newCorrection, refundedBy } from "../ledger/ledger.ts";
import { currencyOf, priceFields, priceOf } from "./prices.ts";
import type { ChargeHistory } from "../ledger/store-port.ts";
import { amountCodec, timeCodec } from "../output.ts";

export const priceCorrectionSchema = z.strictObject({
  ...priceFields,
  from: timeSchema,
  to: timeSchema.optional(),
  reason: reasonSchema,
});

/** Result of a correction or of its dry run; `to` is exclusive. Amounts are in the currency of the corrected price. */
export const correctionSchema = z.object({
  isApplied: z.boolean(),
  model: z.string(),
  currency: z.string(),
  from: timeCodec,
  to: timeCodec,
  charges: z.int().describe("Charges that the corrected price applies to"),
  unrated: z.int().describe("Charges that it cannot rate"),
  adjusted: z.int().describe("Charges whose amount differs"),
  difference: amountCodec.describe("Sum of the corrections, decimal; negative is a refund"),
  organizations: z.array(z.object({ id: z.string(), adjusted: z.int(), difference: amountCodec })),
});

type PriceCorrection = z.output<typeof correctionSchema>;

/**
 * Rates past charges of a model again and writes a correction for each that differs: a refund of what was too much, an
 * adjustment of what was too little. The result is the corrected price, but never less than was refunded for other
 * reasons. With `organizationId` it covers all charges of that organization, else the charges of every organization
 * that were rated by a default price. Repeating it changes nothing; a further price may correct the same charges again.
 * Requests count by the time of their admission; charges that reach the ledger later need another run. A dry run writes
 * nothing.
 */
export async function correctPrice(
  context: AdminContext,
  fields: z.output<typeof priceCorrectionSchema>,
  { dryRun }: { dryRun: boolean },
): Promise<PriceCorrection> {
  const model = requireModel(context.catalogue, fields.model, "model");
  const to = fields.to ?? context.clock.now();
  if (to <= fields.from) throw new AdminError(400, "to", "to must be later than from");
  const source: PriceSource = fields.organizationId === null ? "default" : "organization";
  const currency = await currencyOf(context, fields.organizationId, fields.currency);
  const amounts = priceOf(model, fields);
  const row = { ...amounts, currency, source, effectiveFrom: fields.from, effectiveUntil: null } as const;
  const price = resolvePrice(amounts.unit, currency, [row]);
  if (!price) throw new AdminError(400, "perMillion", "a correction names prices of input and of output");
  const range = { model: fields.model, from: fields.from, to };
  const corrected = { price, source, range };
  const ids = fields.organizationId === null ? await everyOrganization(context) : [fields.organizationId];
  const plan = emptyCorrection(range, currency);
  await eachPage(context, ids, range, (histories) => count(plan, histories, corrected));
  if (dryRun || plan.adjusted === 0) return plan;
  const done: PriceCorrection = {
    ...emptyCorrection(range, currency),
    isApplied: true,
    charges: plan.charges,
    unrated: plan.unrated,
  };
  // The audit row is written with the first change, so it contains what the dry run found.
  let note: object | null = { ...plan, isApplied: true, price: row, reason: fields.reason };
  await eachPage(context, ids, range, async (histories) => {
    const differing = histories
      .filter((history) => differenceOf(history, corrected))
      .map(({ charge }) => charge.id);
    if (differing.length === 0) return;
    const decide = (history: ChargeHistory) => correction(history, corrected, context.clock.now());
    const change = note && {
      by: context.by,
      action: "correct prices" as const,
      subject: fields.model,
      detail: note,
    };
    const written = await context.store.ledger.correct(differing, decide, change);
    if (written.length > 0) note = null;
    for (const { organizationId, amount } of written) add(done, organizationId, amount);
  });
  return done;
}

/** The price that charges should have been rated by, and when. */
interface Corrected {
  price: Price;
  source: PriceSource;
  range: Range;
}

/** Range of admission times: a request is charged the price of the moment that admitted it. */
interface Range {
  model: string;
  from: number;
  to: number;
}

/** Longest time from a request's admission to its charge: the largest total time that can be configured. */
const MAX_REQUEST_MS = 86_400_000;

async function everyOrganization({ store }: AdminContext): Promise<string[]> {
  return (await store.organizations.list()).map(({ id }) => id);
}

async function eachPage(
  { store }: AdminContext,
  organizationIds: readonly string[],
  range: Range,
  work: (histories: ChargeHistory[]) => Promise<void> | void,
): Promise<void> {
  // The ledger is ordered by the end of requests; one admitted in the range may have ended after it.
  const written = { ...range, to: range.to + MAX_REQUEST_MS };
  for (const organizationId of organizationIds) {
    let page = await store.ledger.charges({ organizationId, ...written, after: null });
    await work(page.histories);
    while (page.next) {
      page = await store.ledger.charges({ organizationId, ...written, after: page.next });
      await work(page.histories);
    }
  }
}

function emptyCorrection(range: Range, currency: string): PriceCorrection {
  const counts = { charges: 0, unrated: 0, adjusted: 0, difference: 0n, organizations: [] };
  return { isApplied: false, ...range, currency, ...counts };
}

function count(plan: PriceCorrection, histories: readonly ChargeHistory[], corrected: Corrected): void {
  for (const history of histories) {
    if (!concerns(history, corrected)) continue;
    const difference = differenceOf(history, corrected);
    plan.charges += 1;
    if (difference === undefined) plan.unrated += 1;
    else if (difference !== 0n) add(plan, history.charge.organizationId, difference);
  }
}

function add(correction: PriceCorrection, organizationId: string, difference: Nanos): void {
  let own = correction.organizations.find(({ id }) => id === organizationId);
  if (!own) {
    own = { id: organizationId, adjusted: 0, difference: 0n };
    correction.organizations.push(own);
  }
  for (const sum of [correction, own]) {
    sum.adjusted += 1;
    sum.difference += difference;
  }
}

/** A corrected default price does not apply to charges by an organization's own price. */
function concerns({ charge }: ChargeHistory, { source, range }: Corrected): boolean {
  const admittedAt = charge.admittedAt ?? charge.at;
  if (admittedAt < range.from || admittedAt >= range.to) return false;
  return source === "organization" || charge.priceSource === "default";
}

/** The corrected amount less the charge and earlier adjustments; undefined when this price cannot rate it. */
function differenceOf(history: ChargeHistory, corrected: Corrected): Nanos | undefined {
  const { charge } = history;
  const { price } = corrected;
  if (!concerns(history, corrected) || !charge.usage || charge.currency !== price.currency) return undefined;
  const rated = chargeFor(price, charge.usage)?.amount;
  if (rated === undefined) return undefined;
  const refunded = refundedBy(history);
  return (rated > refunded ? rated : refunded) - charge.amount - adjustedBy(history);
}

function correction(history: ChargeHistory, corrected: Corrected, at: number): LedgerEntry | null {
  const amount = differenceOf(history, corrected);
  if (amount === undefined || amount === 0n) return null;
  return {
    ...newCorrection(history, amount, at),
    priceSource: corrected.source,
    flags: ["price_correction"],
  };
}
