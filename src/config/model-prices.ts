import { isBilledFeature, type Feature } from "../domain/feature.ts";
import type { PriceRow } from "../domain/price.ts";
import type { SizeTier, TokenCategory } from "../domain/usage.ts";
import { camelCase } from "../lib/casing.ts";
import { parseNanos, type Nanos } from "../lib/money.ts";
import { isPattern } from "../lib/pattern-map.ts";
import { formatPath } from "../domain/schema-problems.ts";
import { meantBy } from "../lib/suggest.ts";
import type { CompleteModel } from "./model-schema.ts";
import type { ReportShown } from "./problems.ts";
import { entriesOf } from "../lib/json.ts";
import { operatorMessage } from "../domain/operator-message.ts";

/** Returns the price of a model's entry as a price row that applies to all organizations at all times. */
export function toPriceRow(price: NonNullable<CompleteModel["price"]>): PriceRow {
  const { currency } = price;
  const row = { currency, source: "default", effectiveFrom: 0, effectiveUntil: null } as const;
  if ("per_image" in price) {
    const perImage: Partial<Record<SizeTier, Record<string, Nanos>>> = {};
    for (const [tier, amounts] of entriesOf(price.per_image))
      perImage[tier] = Object.fromEntries(
        Object.entries(amounts).map(([key, value]) => [key, parseNanos(value)]),
      );
    return { ...row, unit: "image", perImage };
  }
  const long = "long_context" in price ? price.long_context : undefined;
  return {
    ...row,
    unit: "token",
    perMillion: toPerMillion(price.per_million),
    ...("per_use" in price && price.per_use && { perUse: toAmounts<Feature>(price.per_use) }),
    ...(long && { longContext: { above: long.above, perMillion: toPerMillion(long.per_million) } }),
  };
}

/**
 * Adds the rows of a pattern's price table. Each row prices the models that match both the pattern and the key of the
 * row.
 */
export function addPriceTable(
  prices: Map<string, PriceRow>,
  id: string,
  { prices: rows = {} }: Extract<CompleteModel, { type: "chat" | "messages" }>,
  report: ReportShown,
): void {
  if (!isPattern(id) && Object.keys(rows).length > 0)
    report(formatPath(["models", id, "prices"]), operatorMessage("input.patternPrices", {}));
  else for (const [key, row] of Object.entries(rows)) prices.set(id.slice(0, -1) + key, toPriceRow(row));
}

/**
 * Reports tiers and qualities that a price has and its model lacks: these would never be charged. Also reports a price
 * or tier without amounts.
 */
export function checkImagePrice(path: string, model: CompleteModel, report: ReportShown): void {
  if (model.type !== "image" || !model.price) return;
  const { tiers, qualities } = model.image;
  const known = [...qualities, "auto", "*"];
  const rows = Object.entries(model.price.per_image);
  const pricePath = `${path}.price.per_image`;
  if (rows.length === 0) report(pricePath, operatorMessage("input.tierPrices", { tiers: tiers.join(", ") }));
  for (const [tier, row] of rows) {
    const names = Object.keys(row);
    if (!tiers.some((each) => each === tier))
      report(`${pricePath}.${tier}`, operatorMessage("input.tierOfModel", { has: tiers.join(", ") }));
    else if (names.length === 0) report(`${pricePath}.${tier}`, operatorMessage("input.qualityPrices", {}));
    for (const name of names.filter((each) => !known.includes(each))) {
      const suggestion = meantBy(name, known) ?? { has: known.join(", ") };
      const words = operatorMessage("input.qualityOfModel", suggestion);
      report(`${pricePath}.${formatPath([tier, name])}`, words);
    }
  }
}

/** Reports each feature of a text model that is allowed and billed by use, but lacks an amount in one of the prices. */
export function checkFeaturePrices(path: string, model: CompleteModel, report: ReportShown): void {
  for (const { at, features } of unpriced(model))
    for (const feature of features)
      report(`${path}.${at}.per_use.${feature}`, operatorMessage("input.featurePrice", {}));
}

/** Withdraws the catalogue's permission for features that have no amount in one of the model's prices. */
export function dropUnpricedFeatures(model: CompleteModel): void {
  const dropped = new Set(unpriced(model).flatMap(({ features }) => features));
  if (dropped.size > 0)
    model.allowed_features = model.allowed_features?.filter((feature) => !dropped.has(feature));
}

/**
 * Returns the prices of a text model. `features` are the features that the model allows and that are billed by use, but
 * have no amount in the price. Returns nothing for models of images, whose price per image covers all features, and for
 * models of embeddings.
 */
function unpriced(model: CompleteModel): { at: string; features: Feature[] }[] {
  if (model.type === "image" || model.type === "embedding") return [];
  const billed = (model.allowed_features ?? []).filter(isBilledFeature);
  const prices = [
    ...(model.price ? [["price", model.price] as const] : []),
    ...Object.entries(model.prices ?? {}).map(([key, price]) => [`prices.${key}`, price] as const),
  ];
  return prices.map(([at, { per_use = {} }]) => ({
    at,
    features: billed.filter((feature) => per_use[feature] === undefined),
  }));
}

function toPerMillion(written: Readonly<Record<string, string | undefined>>) {
  const named = Object.entries(written).map(([category, value]) => [camelCase(category), value]);
  return toAmounts<TokenCategory>(Object.fromEntries(named));
}

function toAmounts<Name extends string>(written: Readonly<Record<string, string | undefined>>) {
  const amounts: Partial<Record<Name, Nanos>> = {};
  for (const [name, value] of Object.entries(written))
    if (value !== undefined) amounts[name as Name] = parseNanos(value);
  return amounts;
}
