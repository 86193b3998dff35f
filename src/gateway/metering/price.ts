import type { Principal } from "../../domain/api-key.ts";
import { type FeatureUse, isBilledFeature } from "../../domain/feature.ts";
import type { Organization } from "../../domain/organization.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { quoteImage } from "../../domain/image-quote.ts";
import type { Model } from "../../domain/model.ts";
import type { Price, TokenPrice } from "../../domain/price.ts";
import type { Directory } from "../snapshot.ts";

/** Returns the price of a model in the organization's currency; null when calls are refused for lack of a price. */
export function findPrice(
  directory: Pick<Directory, "price">,
  organization: Pick<Organization, "id" | "currency">,
  model: Model,
  now: number,
): Price | null {
  if (model.type !== "image") return directory.price(organization, model.id, "token", now);
  const price = directory.price(organization, model.id, "image", now);
  if (price?.unit !== "image") return null;
  // A price must cover a tier of the model. Price rows may also name tiers and qualities that the model no longer has.
  const { image } = model;
  return image.tiers.some((tier) => quoteImage(price, image, tier, "auto")) ? price : null;
}

/** Returns the price by which a request will be billed. Throws `MODEL_PRICE_NOT_CONFIGURED` when there is none. */
export function requirePrice<Unit extends Price["unit"]>(
  directory: Pick<Directory, "price">,
  { organization }: Principal,
  model: string,
  unit: Unit,
  now: number,
): Extract<Price, { unit: Unit }> {
  const price = directory.price(organization, model, unit, now);
  if (price && isIn(price, unit)) return price;
  throw noPrice();
}

/** Throws `MODEL_PRICE_NOT_CONFIGURED` for a feature that is billed by use but has no amount in the price. */
export function requireUsePrices({ perUse = {} }: TokenPrice, features: readonly FeatureUse[]): void {
  for (const { feature, param } of features)
    if (feature !== null && isBilledFeature(feature) && !perUse[feature]) {
      const message = `\`${param}\` uses a feature without a price in your organization's currency. Leave it out.`;
      throw new GatewayError("MODEL_PRICE_NOT_CONFIGURED", message, { param, shouldRetry: false });
    }
}

/** Returns the error for a call of a model without a price. */
export function noPrice(): GatewayError {
  const message = "This model has no price in your organization's currency. An administrator can set one.";
  return new GatewayError("MODEL_PRICE_NOT_CONFIGURED", message, { param: "model", shouldRetry: false });
}

function isIn<Unit extends Price["unit"]>(price: Price, unit: Unit): price is Extract<Price, { unit: Unit }> {
  return price.unit === unit;
}
