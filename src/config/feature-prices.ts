import { isBilledFeature, type Feature } from "../domain/feature.ts";
import type { CompleteModel } from "./model-schema.ts";
import type { Report } from "./problems.ts";

/** Reports each feature that a text model allows, vendors bill by use, and one of its prices does not name. */
export function checkFeaturePrices(path: string, model: CompleteModel, report: Report): void {
  for (const { at, features } of unpriced(model))
    for (const feature of features)
      report(
        `${path}.${at}.per_use.${feature}`,
        'is missing: vendors bill this feature by use; name its price, or "0" where the price of tokens covers it',
      );
}

/** Takes back the shipped permission of features that the price in the configuration file does not name. */
export function dropUnpricedFeatures(model: CompleteModel): void {
  const dropped = new Set(unpriced(model).flatMap(({ features }) => features));
  if (dropped.size > 0)
    model.allowed_features = model.allowed_features?.filter((feature) => !dropped.has(feature));
}

/** The prices that lack a feature. An image's own price covers what its model may use. */
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
