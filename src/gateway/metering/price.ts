import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Organization } from "../../domain/organization.ts";
import type { Price } from "../../domain/price.ts";
import type { Directory } from "../ports.ts";

/**
 * The price of a model for an organization; null where there is none. One in another currency is none: its budgets
 * could not be reckoned with it.
 */
export function findPrice(
  directory: Pick<Directory, "price">,
  organization: Pick<Organization, "id" | "currency">,
  model: string,
  now: number,
): Price | null {
  const price = directory.price(organization.id, model, now);
  return price?.currency === organization.currency ? price : null;
}

/** The price a request will be billed by. No price is a 402, never free. */
export function requirePrice<Unit extends Price["unit"]>(
  directory: Directory,
  { organization }: Principal,
  model: string,
  unit: Unit,
  now: number,
): Extract<Price, { unit: Unit }> {
  const price = findPrice(directory, organization, model, now);
  if (price && isIn(price, unit)) return price;
  throw noPrice();
}

/** What a model without a price answers. */
export function noPrice(): GatewayError {
  const message = "This model has no price in your organization's currency.";
  return new GatewayError("MODEL_PRICE_NOT_CONFIGURED", message, { param: "model", shouldRetry: false });
}

function isIn<Unit extends Price["unit"]>(price: Price, unit: Unit): price is Extract<Price, { unit: Unit }> {
  return price.unit === unit;
}
