import { NestedMap } from "../../lib/nested-map.ts";
import { PatternMap } from "../../lib/pattern-map.ts";
import { resolvePrice, type Price, type PriceRow } from "../../domain/price.ts";
import type { PriceRecord } from "./store-port.ts";

/** The paying organization. An unknown id gives the prices of organizations without rows of their own. */
export interface Payer {
  id: string;
  currency: string;
}

/** The price of a model at a moment (Unix milliseconds), or null when the payer's currency has none. */
export type PriceIndex = (payer: Payer, model: string, unit: Price["unit"], now: number) => Price | null;

/**
 * The one resolver of prices: lookup, hold, ledger and administration use it. Each cell comes from the organization's
 * rows, then from the stored defaults, then from the configured row; rows in another currency do not count. Of rows
 * with the same owner the latest that covers the cell wins. Stored rows of a pattern count for models without any.
 */
export function priceIndex(
  stored: readonly PriceRecord[],
  configured: Pick<PatternMap<PriceRow>, "get">,
): PriceIndex {
  const byModel = Map.groupBy(stored.toSorted(latestFirst), ({ model }) => model);
  const grouped = byModel
    .entries()
    .map(
      ([model, records]) => [model, Map.groupBy(records, ({ organizationId }) => organizationId)] as const,
    );
  const owners = new PatternMap(new Map(grouped));
  /** Prices by model, unit, currency and, where it has rows of its own, the organization. */
  let resolved = new NestedMap<Resolved>();
  return ({ id, currency }, model, unit, now) => {
    const own = owners.get(model)?.get(id);
    const key = [model, unit, currency, own ? id : ""];
    const known = resolved.get(key);
    if (known && known.from <= now && now < known.until) return known.price;
    const rows = [...(own ?? []), ...(owners.get(model)?.get(null) ?? [])].map(toRow);
    const shipped = configured.get(model);
    const candidates = (shipped ? [...rows, shipped] : rows).filter((row) => row.currency === currency);
    const price = resolvePrice(
      unit,
      currency,
      candidates.filter((row) => isInForce(row, now)),
    );
    // Patterns cover any number of models.
    if (resolved.size >= MAX_RESOLVED) resolved = new NestedMap();
    if (candidates.length > 0) resolved.set(key, { price, from: now, until: nextChange(candidates, now) });
    return price;
  };
}

const MAX_RESOLVED = 10_000;

/** A price and the time in which no row begins or ends. */
interface Resolved {
  price: Price | null;
  from: number;
  until: number;
}

function latestFirst(one: PriceRecord, other: PriceRecord): number {
  return (
    other.effectiveFrom - one.effectiveFrom || other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1)
  );
}

function toRow({ organizationId, currency, effectiveFrom, effectiveUntil, price }: PriceRecord): PriceRow {
  const source = organizationId === null ? "default" : "organization";
  return { ...price, currency, source, effectiveFrom, effectiveUntil };
}

function isInForce({ effectiveFrom, effectiveUntil }: PriceRow, now: number): boolean {
  return effectiveFrom <= now && (effectiveUntil === null || now < effectiveUntil);
}

function nextChange(rows: readonly PriceRow[], now: number): number {
  const times = rows.flatMap(({ effectiveFrom, effectiveUntil }) => [
    effectiveFrom,
    effectiveUntil ?? Infinity,
  ]);
  return Math.min(...times.filter((time) => time > now), Infinity);
}
