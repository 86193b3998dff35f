import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { charge as chargeFor, type Price, type PriceSource, resolvePrice } from "../../domain/price.ts";
import type { Nanos } from "../../lib/money.ts";
import { nextTurn } from "../../lib/waiting.ts";
import { AdminError } from "../admin-error.ts";
import { requireModel, type AdminContext } from "../context.ts";
import { reasonSchema, timeSchema } from "../input.ts";
import { adjustedBy, newCorrection, refundedBy } from "../ledger/ledger.ts";
import { currencyOf, priceFields, priceOf } from "./prices.ts";
import type { ChargeHistory, LedgerPosition } from "../ledger/store-port.ts";
import { amountCodec, timeCodec } from "../output.ts";

export const priceCorrectionSchema = z.strictObject({
  ...priceFields,
  from: timeSchema,
  to: timeSchema.optional(),
  reason: reasonSchema,
});

/** Result of a correction or of its dry run. `to` is exclusive. Amounts are in the currency of the corrected price. */
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
 * Applies a price to past charges of a model. Writes a correction for each charge that differs: a refund if the charge
 * was too high, an adjustment if it was too low. Afterwards the corrected charge is what the new price gives, but is
 * never less than the amount that was refunded for other reasons. With `organizationId`, covers all charges of the
 * organization. Without it, covers the charges at a default price, of every organization. A second run changes nothing.
 * A later price may correct the same charges again. The time of a charge is the time of its admission. Charges that
 * reach the ledger later need another run. A dry run writes nothing.
 */
export async function correctPrice(
  context: AdminContext,
  fields: z.output<typeof priceCorrectionSchema>,
  { dryRun }: { dryRun: boolean },
): Promise<PriceCorrection> {
  const model = requireModel(context.catalogue, fields.model, "model");
  const to = fields.to ?? context.clock.now();
  if (to <= fields.from) throw new AdminError(400, "to", operatorMessage("error.range.order", {}));
  const source: PriceSource = fields.organizationId === null ? "default" : "organization";
  const currency = await currencyOf(context, fields.organizationId, fields.currency);
  const amounts = priceOf(model, fields);
  const row = { ...amounts, currency, source, effectiveFrom: fields.from, effectiveUntil: null } as const;
  const price = resolvePrice(amounts.unit, currency, [row]);
  if (!price) throw new AdminError(400, "perMillion", operatorMessage("error.correction.both", {}));
  const range = { model: fields.model, from: fields.from, to };
  const corrected = { price, source, range };
  const ids = fields.organizationId === null ? await everyOrganization(context) : [fields.organizationId];
  const plan = emptyCorrection(range, currency);
  const charges = { ids, range };
  await eachPage(context, charges, "Rating charges.", (histories) => count(plan, histories, corrected));
  if (dryRun || plan.adjusted === 0) return plan;
  const done: PriceCorrection = {
    ...emptyCorrection(range, currency),
    isApplied: true,
    charges: plan.charges,
    unrated: plan.unrated,
  };
  // The audit row is written with the first corrections, so the figures in the row are the figures of the plan.
  let note: object | null = { ...plan, isApplied: true, price: row, reason: fields.reason };
  await eachPage(context, charges, "Booking corrections.", async (histories) => {
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

/** The price that charges should have had, and the time range of the charges. */
interface Corrected {
  price: Price;
  source: PriceSource;
  range: Range;
}

/** The charges of a model that were admitted in a time range. Admission fixes the price of a charge. */
interface Range {
  model: string;
  from: number;
  to: number;
}

/** Maximum time from a request's admission to its charge: the largest total timeout that can be configured. */
const MAX_REQUEST_MS = 86_400_000;

async function everyOrganization({ store }: AdminContext): Promise<string[]> {
  return (await store.organizations.list()).map(({ id }) => id);
}

async function eachPage(
  { store, onProgress }: AdminContext,
  { ids, range }: { ids: readonly string[]; range: Range },
  step: string,
  work: (histories: ChargeHistory[]) => Promise<void> | void,
): Promise<void> {
  const { model, from, to } = range;
  // The ledger is ordered by the end of requests. A request admitted in the range may have ended later.
  const written = { model, from, to: to + MAX_REQUEST_MS };
  for (const [index, organizationId] of ids.entries()) {
    let after: LedgerPosition | null = null;
    do {
      const share = after ? Math.min(1, (after.at - from) / (to - from)) : 0;
      onProgress?.(step, index + share, ids.length);
      // SQLite reads a page within one turn of the event loop; signals are handled between two turns.
      await nextTurn();
      const page = await store.ledger.charges({ organizationId, ...written, after });
      await work(page.histories);
      after = page.next;
    } while (after);
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

/**
 * True when the correction applies to a charge. A corrected default price does not apply to charges made at an
 * organization's own price.
 */
function concerns({ charge }: ChargeHistory, { source, range }: Corrected): boolean {
  const admittedAt = charge.admittedAt ?? charge.at;
  if (admittedAt < range.from || admittedAt >= range.to) return false;
  return source === "organization" || charge.priceSource === "default";
}

/**
 * Returns the corrected amount minus the charge and its earlier price corrections; undefined when the correction does
 * not apply to the charge or its price cannot rate the charge.
 */
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
