import type { PriceRecord } from "./ports.ts";
import type { Price } from "../domain/price.ts";

/** Finds the price in force: an organization's own row, then a stored default, then the configured one. */
export type PriceIndex = (organizationId: string, model: string, now: number) => Price | undefined;

export function priceIndex(
  stored: readonly PriceRecord[],
  configured: ReadonlyMap<string, readonly Price[]>,
): PriceIndex {
  const byOrganization = Map.groupBy(stored, (record) => record.organizationId);
  const indexes = new Map(
    byOrganization.entries().map(([id, records]) => [id, indexByModel(records)] as const),
  );
  const defaults = indexes.get(null);
  const shipped = new Map(
    configured.entries().map(([model, prices]) => [model, prices.toSorted(latestFirst)]),
  );
  return (organizationId, model, now) =>
    inForce(indexes.get(organizationId)?.get(model), now) ??
    inForce(defaults?.get(model), now) ??
    inForce(shipped.get(model), now);
}

function indexByModel(records: readonly PriceRecord[]): Map<string, Price[]> {
  const latest = records.toSorted(
    (one, other) =>
      other.effectiveFrom - one.effectiveFrom ||
      other.createdAt - one.createdAt ||
      (one.id < other.id ? 1 : -1),
  );
  const byModel = Map.groupBy(latest, (record) => record.model);
  return new Map(byModel.entries().map(([model, group]) => [model, group.map(readPrice)]));
}

function readPrice({ organizationId, currency, effectiveFrom, price }: PriceRecord): Price {
  return { ...price, currency, effectiveFrom, source: organizationId === null ? "default" : "organization" };
}

function latestFirst(one: Price, other: Price): number {
  return other.effectiveFrom - one.effectiveFrom;
}

/** `prices` come latest first. */
function inForce(prices: readonly Price[] | undefined, now: number): Price | undefined {
  return prices?.find((price) => price.effectiveFrom <= now);
}
