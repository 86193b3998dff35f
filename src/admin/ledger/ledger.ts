import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { formatNanos, type Nanos } from "../../lib/money.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { amountSchema, queryTimeSchema, reasonSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { pageFields } from "../paging.ts";
import type {
  ChargeHistory,
  LedgerFilter,
  LedgerPosition,
  PostedPage,
  PostedPosition,
} from "./store-port.ts";
import { inputError } from "../../domain/schema-problems.ts";

/** A charge with its corrections, and the sum of all of them. */
interface LedgerView extends ChargeHistory {
  net: Nanos;
}

/** A page of entries, and the cursor of the next page; null for the last page. */
interface LedgerListing {
  entries: LedgerEntry[];
  next: string | null;
}

/**
 * Returns a page of the ledger of at most 1,000 entries, newest first. With `after`, returns the entries whose sequence
 * number is above `after`, in the order of posting. `cursor` is `next` of the previous page. Throws 404 for an unknown
 * organization, key or cursor, and 400 for a cursor of another list.
 */
export async function listLedger(
  context: AdminContext,
  input: z.output<typeof ledgerListSchema>,
): Promise<LedgerListing> {
  const { cursor, limit, after, ...filter } = input;
  await checkFilter(context, filter);
  if (after !== undefined)
    return await listPosted(context, { ...filter, after: readPosition(after, cursor), limit });
  const below = cursor === undefined ? undefined : await positionOf(context, cursor);
  // Reads one more entry than the page has, to find out if another page follows.
  const found = await context.store.ledger.list({ ...filter, below, limit: limit + 1 });
  const entries = found.slice(0, limit);
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

async function listPosted({ store }: AdminContext, page: Omit<PostedPage, "upTo">): Promise<LedgerListing> {
  const upTo = await store.ledger.readableSequence();
  const found = await store.ledger.listPosted({ ...page, upTo, limit: page.limit + 1 });
  const entries = found.slice(0, page.limit);
  const last = entries.at(-1);
  const hasMore = found.length > page.limit && last;
  return { entries, next: hasMore ? `${last.sequence}.${last.kind}.${last.id}` : null };
}

/**
 * Returns the position at which a list in the order of posting continues: after the entry of the cursor, or after all
 * entries with the sequence number `after`.
 */
function readPosition(after: number, cursor: string | undefined): PostedPosition {
  if (cursor === undefined) return { sequence: after + 1, id: "", kind: "" };
  const [, sequence, kind, id] = /^(\d{1,15})\.([a-z]+)\.([\x21-\x7e]{1,300})$/.exec(cursor) ?? [];
  if (sequence === undefined || kind === undefined || id === undefined)
    throw new AdminError(400, "cursor", "the cursor is not one of this list: use `next` of the page before");
  return { sequence: Number(sequence), id, kind };
}

async function checkFilter(context: AdminContext, { organizationId, keyId }: LedgerFilter): Promise<void> {
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  if (keyId !== undefined) await getKey(context, keyId, "keyId");
}

async function positionOf({ store }: AdminContext, cursor: string): Promise<LedgerPosition> {
  const position = await store.ledger.position(cursor);
  if (position) return position;
  throw new AdminError(404, "cursor", `there is no entry "${cursor}" in the ledger to go on from`);
}

/** Returns one charge with its corrections. Throws 404 for an unknown charge. */
export async function getCharge(context: AdminContext, id: string): Promise<LedgerView> {
  const history = await context.store.ledger.history(id);
  if (!history) throw unknownCharge(id);
  return { ...history, net: netOf(history) };
}

/**
 * Refunds a charge: by default the whole remaining amount, and never more. `reason` is written to the audit. Throws 404
 * for an unknown charge, 400 for an amount that is zero or too large, and 409 when nothing remains.
 */
export async function refund(
  context: AdminContext,
  id: string,
  input: z.output<typeof refundSchema>,
): Promise<LedgerEntry> {
  const { amount, reason } = input;
  const history = await context.store.ledger.history(id);
  if (!history) throw unknownCharge(id);
  const refunded = amount ?? netOf(history);
  const decide = (now: ChargeHistory): LedgerEntry => {
    const left = netOf(now);
    if (left <= 0n) throw new AdminError(409, "id", operatorMessage("error.refund.nothing", { id }));
    if (refunded === 0n) throw new AdminError(400, "amount", operatorMessage("error.refund.zero", {}));
    if (refunded > left)
      throw new AdminError(
        400,
        "amount",
        operatorMessage("error.refund.most", { left: formatNanos(left), id }),
      );
    return newCorrection(now, -refunded, context.clock.now());
  };
  const detail = { reason, amount: refunded, currency: history.charge.currency };
  const note = { by: context.by, action: "refund" as const, subject: id, detail };
  const [entry] = await context.store.ledger.correct([id], decide, note);
  if (!entry) throw unknownCharge(id);
  return entry;
}

/** Returns the sum of a charge's corrections that were made because of its price. */
export function adjustedBy({ corrections }: ChargeHistory): Nanos {
  return sumOf(corrections.filter(isOfPrice));
}

/** Returns the amount refunded for other reasons than the price, as a positive number. */
export function refundedBy({ corrections }: ChargeHistory): Nanos {
  return -sumOf(corrections.filter((entry) => !isOfPrice(entry)));
}

function isOfPrice({ flags }: LedgerEntry): boolean {
  return flags.includes("price_correction");
}

/**
 * Returns an entry that corrects a charge. Its id is `<charge>:<n>`, with the number of the correction, counted from
 * one. So a charge can have several corrections, and no correction is written twice. A negative amount is a refund, a
 * positive amount an adjustment. The entry has no usage and no vendor cost, because these would count twice.
 */
export function newCorrection(
  { charge, corrections }: ChargeHistory,
  amount: Nanos,
  at: number,
): LedgerEntry {
  const id = `${charge.id}:${corrections.length + 1}`;
  const { vendorCost: _, sequence: _sequence, ...origin } = charge;
  return {
    ...origin,
    id,
    kind: amount < 0n ? "refund" : "adjustment",
    amount,
    at,
    usage: null,
    orphanCost: 0n,
    attempts: [],
    flags: [],
    corrects: charge.id,
  };
}

const ledgerFilterSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  requestId: z.string().optional(),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional(),
});

export const ledgerListSchema = ledgerFilterSchema.extend({
  ...pageFields,
  after: z
    .union(
      [
        z.int().min(0),
        z
          .string()
          .regex(/^\d{1,15}$/)
          .transform(Number),
      ],
      {
        error: inputError("input.sequence", {}),
      },
    )
    .meta({ type: "integer", minimum: 0 })
    .describe("Only what was posted after this `sequence`, in the order of posting")
    .optional(),
});

export const refundSchema = z.strictObject({ amount: amountSchema.optional(), reason: reasonSchema });

function netOf(history: ChargeHistory): Nanos {
  return history.charge.amount + sumOf(history.corrections);
}

function sumOf(entries: readonly LedgerEntry[]): Nanos {
  return entries.reduce((sum, { amount }) => sum + amount, 0n);
}

function unknownCharge(id: string): AdminError {
  return new AdminError(404, "id", `there is no charge "${id}" in the ledger`);
}
