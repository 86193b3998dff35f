import { z } from "zod";
import type { LedgerEntry } from "../domain/ledger.ts";
import { charge as chargeFor, type Price } from "../domain/price.ts";
import type { Nanos } from "../lib/money.ts";
import { AdminError } from "./admin-error.ts";
import { requireModel, type AdminContext } from "./context.ts";
import { readInput, reasonSchema } from "./input.ts";
import { adjustedBy, newCorrection, refundedBy } from "./ledger.ts";
import { currencyOf, priceFields, priceOf } from "./prices.ts";
import type { ChargeHistory } from "./ports.ts";

/** What a correction does, or would do. Money in the currency of the corrected price. */
export interface PriceCorrection {
  isApplied: boolean;
  model: string;
  currency: string;
  /** Unix milliseconds, `to` exclusive. */
  from: number;
  to: number;
  /** Charges of the model that this price is for. */
  charges: number;
  /** Those that could not be rated: without usage, in another currency, or of a tier the price has no row for. */
  unrated: number;
  /** Those whose amount differs. */
  adjusted: number;
  /** What all corrections come to; negative is in the organizations' favour. */
  difference: Nanos;
  organizations: { id: string; adjusted: number; difference: Nanos }[];
}

/**
 * Rates past charges of a model anew and writes a correction for each that differs (a refund of what was too much, an
 * adjustment of what was too little), so that they come to what the corrected price says, but never to less than was
 * refunded for other reasons. With `organizationId` all charges of that organization are meant, else those of every
 * organization that were rated by a default price. Repeating it changes nothing; a further price may correct the same
 * charges again. Charges that reach the ledger later need another run. A dry run writes nothing.
 */
export async function correctPrice(
  context: AdminContext,
  input: unknown,
  { dryRun }: { dryRun: boolean },
): Promise<PriceCorrection> {
  const fields = readInput(correctionSchema, input);
  const model = requireModel(context.catalogue, fields.model, "model");
  const to = fields.to ?? context.clock.now();
  if (to <= fields.from) throw new AdminError(400, "to", "to must be later than from");
  const price: Price = {
    ...priceOf(model, fields),
    currency: await currencyOf(context, fields.organizationId, fields.currency),
    source: fields.organizationId === null ? "default" : "organization",
    effectiveFrom: fields.from,
  };
  const range = { model: fields.model, from: fields.from, to };
  const ids = fields.organizationId === null ? await everyOrganization(context) : [fields.organizationId];
  const plan = emptyCorrection(range, price);
  await eachPage(context, ids, range, (histories) => count(plan, histories, price));
  if (dryRun || plan.adjusted === 0) return plan;
  const done: PriceCorrection = {
    ...emptyCorrection(range, price),
    isApplied: true,
    charges: plan.charges,
    unrated: plan.unrated,
  };
  // The audit row stands before the first change is made, so it says what was found to be changed.
  let note: object | null = { ...plan, isApplied: true, price, reason: fields.reason };
  await eachPage(context, ids, range, async (histories) => {
    const differing = histories
      .filter((history) => differenceOf(history, price))
      .map(({ charge }) => charge.id);
    if (differing.length === 0) return;
    const decide = (history: ChargeHistory) => correction(history, price, context.clock.now());
    const change = note && { by: context.by, subject: fields.model, detail: note };
    const written = await context.store.ledger.correct(differing, decide, change);
    if (written.length > 0) note = null;
    for (const { organizationId, amount } of written) add(done, organizationId, amount);
  });
  return done;
}

const correctionSchema = z.strictObject({
  ...priceFields,
  from: z.int().min(0),
  to: z.int().min(0).optional(),
  reason: reasonSchema,
});

interface Range {
  model: string;
  from: number;
  to: number;
}

async function everyOrganization({ store }: AdminContext): Promise<string[]> {
  return (await store.organizations.list()).map(({ id }) => id);
}

async function eachPage(
  { store }: AdminContext,
  organizationIds: readonly string[],
  range: Range,
  work: (histories: ChargeHistory[]) => Promise<void> | void,
): Promise<void> {
  for (const organizationId of organizationIds) {
    let page = await store.ledger.charges({ organizationId, ...range, after: null });
    await work(page.histories);
    while (page.next) {
      page = await store.ledger.charges({ organizationId, ...range, after: page.next });
      await work(page.histories);
    }
  }
}

function emptyCorrection(range: Range, { currency }: Price): PriceCorrection {
  const counts = { charges: 0, unrated: 0, adjusted: 0, difference: 0n, organizations: [] };
  return { isApplied: false, ...range, currency, ...counts };
}

function count(plan: PriceCorrection, histories: readonly ChargeHistory[], price: Price): void {
  for (const history of histories) {
    if (!concerns(history, price)) continue;
    const difference = differenceOf(history, price);
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

/** A corrected default price says nothing about what an organization's own price has billed. */
function concerns({ charge }: ChargeHistory, price: Price): boolean {
  return price.source === "organization" || charge.priceSource === "default";
}

/** What is missing to the corrected amount; undefined when the charge cannot be rated by this price. */
function differenceOf(history: ChargeHistory, price: Price): Nanos | undefined {
  const { charge } = history;
  if (!concerns(history, price) || !charge.usage || charge.currency !== price.currency) return undefined;
  const rated = chargeFor(price, charge.usage);
  if (rated === undefined) return undefined;
  const refunded = refundedBy(history);
  return (rated > refunded ? rated : refunded) - charge.amount - adjustedBy(history);
}

function correction(history: ChargeHistory, price: Price, at: number): LedgerEntry | null {
  const amount = differenceOf(history, price);
  if (amount === undefined || amount === 0n) return null;
  return {
    ...newCorrection(history, amount, at),
    priceSource: price.source,
    flags: ["price_correction"],
  };
}
