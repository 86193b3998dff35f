import { NestedMap } from "../../lib/nested-map.ts";
import { PatternMap } from "../../lib/pattern-map.ts";
import { resolvePrice, type Price, type PriceRow } from "../../domain/price.ts";
import type { PriceRecord } from "./store-port.ts";

/** The paying organization. An unknown id gets the prices of organizations without rows of their own. */
export interface Payer {
  id: string;
  currency: string;
}

/** Returns the price of a model at a time (Unix milliseconds); null when there is none in the payer's currency. */
export type PriceIndex = (payer: Payer, model: string, unit: Price["unit"], now: number) => Price | null;

/**
 * The only resolver of prices, used by the price lookup, holds, the ledger and administration. Each cell comes from the
 * organization's rows, otherwise from the stored defaults, otherwise from the configured row. Rows in another currency
 * than the payer's do not count. Of several rows with the same owner, the latest row that has the cell counts. Stored
 * rows for a pattern apply to models without stored rows of their own.
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
  /**
   * Resolved prices by model, unit and currency. An organization with rows of its own for the model has separate
   * prices.
   */
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
    // The map is limited, because patterns cover any number of models.
    if (resolved.size >= MAX_RESOLVED) resolved = new NestedMap();
    if (candidates.length > 0) resolved.set(key, { price, from: now, until: nextChange(candidates, now) });
    return price;
  };
}

const MAX_RESOLVED = 10_000;

/** A price, and the time range in which no row begins or ends. */
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
