import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Price } from "../../domain/price.ts";
import type { Directory } from "../ports.ts";

/** The price a request will be billed by. No price is a 402, never free. */
export function requirePrice<Unit extends Price["unit"]>(
  directory: Directory,
  { organization }: Principal,
  model: string,
  unit: Unit,
  now: number,
): Extract<Price, { unit: Unit }> {
  const price = directory.price(organization.id, model, now);
  if (price && isIn(price, unit)) return price;
  throw noPrice();
}

/** What a model without a price answers. */
export function noPrice(): GatewayError {
  return new GatewayError("MODEL_PRICE_NOT_CONFIGURED", "This model has no price for your organization.", {
    param: "model",
    shouldRetry: false,
  });
}

function isIn<Unit extends Price["unit"]>(price: Price, unit: Unit): price is Extract<Price, { unit: Unit }> {
  return price.unit === unit;
}
