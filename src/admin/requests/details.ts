import type { z } from "zod";
import type { Attempt, LedgerEntry } from "../../domain/ledger.ts";
import { type ChargeLine, chargeLines, priceStart } from "../../domain/price.ts";
import { OUTPUT_CATEGORIES, sumTokens, TOKEN_CATEGORY_NAMES, type Usage } from "../../domain/usage.ts";
import { divideHalfUp, formatMillionths, formatNanos } from "../../lib/money.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { isoTime } from "../output.ts";
import { priceIndex } from "../prices/price-index.ts";
import { keyNames, rowOf } from "./requests.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import type { ListedRequest } from "../usage/store-port.ts";
import type { requestDetailSchema } from "../usage/schema.ts";
import { ownValue } from "../../lib/json.ts";

type Detail = z.input<typeof requestDetailSchema>;

/**
 * Returns all known facts about one request. `id` is the id of the request or its ledger entry, the id of a correction,
 * or an id from the caller or a vendor. If several requests have the same id from the caller or a vendor, returns the
 * newest. Throws 404 for an unknown id.
 */
export async function getRequest(context: AdminContext, id: string): Promise<Detail> {
  const found = await context.store.requests.find(id);
  const request = found.find((each) => each.id === id) ?? found[0];
  if (!request)
    throw new AdminError(
      404,
      "id",
      `there is no request "${id}": it succeeded without a charge, is older than the request log keeps, or has not been written yet`,
    );
  const { record, charge } = request;
  const history = charge ? await context.store.ledger.history(charge.id) : null;
  const entries = history ? [history.charge, ...history.corrections] : [];
  return {
    request: {
      ...rowOf(request, await keyNames(context, [request])),
      method: record?.method || null,
      path: record?.path || null,
      address: record?.address ?? null,
      traceId: record?.traceId ?? null,
      firstByteMs: record?.firstByteMs ?? null,
      tokensPerSecond: speedOf(request),
      client: record?.client ?? null,
      isStream: record?.isStream ?? null,
      // Only members of all organizations see messages of drivers and the system, which may reveal the installation.
      cause: decidesForAll(context) ? (record?.cause ?? null) : null,
    },
    attempts: (record?.attempts ?? charge?.attempts ?? []).map(attemptView),
    ledger: entries.map(entryView),
    net: charge ? formatNanos(entries.reduce((sum, { amount }) => sum + amount, 0n)) : null,
    cost: charge ? await costOf(context, charge) : null,
    others: found.filter((each) => each !== request).map((each) => ({ id: each.id, at: isoTime(each.at) })),
  };
}

/** Returns the output tokens per second of a stream; null without output or without the time of the first byte. */
function speedOf({ record, charge }: ListedRequest): number | null {
  const usage = charge?.usage;
  if (!record || record.firstByteMs === null || usage?.unit !== "token") return null;
  const seconds = (record.durationMs - record.firstByteMs) / 1000;
  const tokens = sumTokens(usage.tokens, OUTPUT_CATEGORIES);
  return seconds <= 0 || tokens === 0 ? null : Math.round((tokens / seconds) * 10) / 10;
}

function attemptView(attempt: Attempt): Detail["attempts"][number] {
  return {
    channel: attempt.channel,
    upstreamModel: attempt.upstreamModel,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    durationMs: attempt.durationMs,
    isAmbiguous: attempt.isAmbiguous ?? false,
    vendorRequestId: attempt.vendorRequestId ?? null,
    ignoredParams: [...(attempt.ignoredParams ?? [])],
  };
}

function entryView(entry: LedgerEntry): Detail["ledger"][number] {
  const { id, kind, at, amount, currency, orphanCost, vendorCost, priceSource, budgets, flags } = entry;
  return {
    id,
    kind,
    at: isoTime(at),
    amount: formatNanos(amount),
    currency,
    orphanCost: formatNanos(orphanCost),
    vendorCost: vendorCost ? { amount: formatNanos(vendorCost.amount), currency: vendorCost.currency } : null,
    priceSource,
    budgets: [...budgets],
    flags: [...flags],
  };
}

/** Returns the charge line by line, at the prices in force when the request was admitted. */
async function costOf({ store, catalogue }: AdminContext, charge: LedgerEntry): Promise<Detail["cost"]> {
  const { usage, currency, model, organizationId } = charge;
  if (!usage) return null;
  const index = priceIndex(await store.prices.list({ model }), catalogue.prices);
  const at = charge.admittedAt ?? charge.at;
  const price = index({ id: organizationId, currency }, model, usage.unit, at);
  const lines = price && chargeLines(price, usage);
  if (!lines) return null;
  const sum = divideHalfUp(
    lines.reduce((total, { millionths }) => total + millionths, 0n),
    1_000_000n,
  );
  return {
    currency,
    lines: lines.map((line) => lineView(line, usage)),
    sum: formatNanos(sum),
    isExact: sum === charge.amount,
  };
}

function lineView(line: ChargeLine, usage: Usage): NonNullable<Detail["cost"]>["lines"][number] {
  const { what, quantity, rate, unitPrice, per, millionths } = line;
  return {
    what: ownValue(TOKEN_CATEGORY_NAMES, what) ?? what,
    detail: detailOf(line, usage),
    quantity,
    unitPrice: formatNanos(unitPrice),
    per,
    amount: formatMillionths(millionths),
    source: rate.source,
    effectiveFrom: priceStart(rate.effectiveFrom),
  };
}

function detailOf({ rate, unitPrice }: ChargeLine, usage: Usage): string | null {
  if (usage.unit === "image") return `${usage.tier}:${usage.quality}`;
  return rate.longContext && unitPrice === rate.longContext.amount && unitPrice !== rate.amount
    ? "long_context"
    : null;
}
