import type { Principal } from "../../domain/api-key.ts";
import type { Organization } from "../../domain/organization.ts";
import { type Feature, type FeatureUse, isBilledFeature } from "../../domain/feature.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { quoteImage } from "../../domain/image-quote.ts";
import { MAX_CHARGE } from "../../domain/ledger.ts";
import type { Model } from "../../domain/model.ts";
import { amountAt, longContextSteps, type Price, type TokenPrice, tokenRate } from "../../domain/price.ts";
import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  type TokenCategory,
  type UseCounts,
} from "../../domain/usage.ts";
import { divideHalfUp, type Nanos } from "../../lib/money.ts";
import type { Directory } from "../snapshot.ts";
import { INPUT_MARGIN } from "./usage-policy.ts";

/** Returns the price of a model in the organization's currency; null where a call would be refused with a 402. */
export function findPrice(
  directory: Pick<Directory, "price">,
  organization: Pick<Organization, "id" | "currency">,
  model: Model,
  now: number,
): Price | null {
  if (model.type !== "image") return directory.price(organization, model.id, "token", now);
  const price = directory.price(organization, model.id, "image", now);
  if (price?.unit !== "image") return null;
  // Price rows may name tiers and qualities that the model no longer has.
  const { image } = model;
  return image.tiers.some((tier) => quoteImage(price, image, tier, "auto")) ? price : null;
}

/** Returns the price a request will be billed by. Throws `MODEL_PRICE_NOT_CONFIGURED` where there is none. */
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

/** Throws `MODEL_PRICE_NOT_CONFIGURED` where a feature is billed by use and the price lacks it. */
export function requireUsePrices({ perUse = {} }: TokenPrice, features: readonly FeatureUse[]): void {
  for (const { feature, param } of features)
    if (feature !== null && isBilledFeature(feature) && !perUse[feature]) {
      const message = `\`${param}\` uses a feature without a price in your organization's currency. Leave it out.`;
      throw new GatewayError("MODEL_PRICE_NOT_CONFIGURED", message, { param, shouldRetry: false });
    }
}

/** Returns the refusal of a call without a price. */
export function noPrice(): GatewayError {
  const message = "This model has no price in your organization's currency. An administrator can set one.";
  return new GatewayError("MODEL_PRICE_NOT_CONFIGURED", message, { param: "model", shouldRetry: false });
}

function isIn<Unit extends Price["unit"]>(price: Price, unit: Unit): price is Extract<Price, { unit: Unit }> {
  return price.unit === unit;
}

/**
 * Returns the maximum cost of a text request: every input token in the most expensive category, every output token it
 * may get, and every use of a feature.
 */
export function textCeiling(
  price: TokenPrice,
  inputTokens: number,
  outputTokens: number,
  uses: UseCounts = {},
): Nanos {
  const numerator =
    usesCeiling(price, uses) * 1_000_000n +
    BigInt(inputTokens) * highestPrice(price, INPUT_CATEGORIES, inputTokens) +
    BigInt(outputTokens) * highestPrice(price, OUTPUT_CATEGORIES, inputTokens);
  const ceiling = divideHalfUp(numerator, 1_000_000n) + 1n;
  return ceiling < MAX_CHARGE ? ceiling : MAX_CHARGE;
}

/** Returns the output tokens that an amount covers beside the input: the inverse of `textCeiling`. */
export function coveredOutput(
  price: TokenPrice,
  inputTokens: number,
  amount: Nanos,
  uses: UseCounts = {},
): number {
  const output = highestPrice(price, OUTPUT_CATEGORIES, inputTokens);
  if (output === 0n) return MAX_OUTPUT_TOKENS;
  const input = highestPrice(price, INPUT_CATEGORIES, inputTokens);
  const rest = (amount - usesCeiling(price, uses) - 1n) * 1_000_000n - BigInt(inputTokens) * input;
  return rest < 0n ? 0 : Math.min(Number(rest / output), MAX_OUTPUT_TOKENS);
}

function usesCeiling({ perUse = {} }: TokenPrice, uses: UseCounts): Nanos {
  let sum = 0n;
  for (const [name, count] of Object.entries(uses))
    sum += (perUse[name as Feature]?.amount ?? 0n) * BigInt(count);
  return sum;
}

/** More output tokens than any model returns. */
const MAX_OUTPUT_TOKENS = 2 ** 32;

/** Returns the highest price of a token in a request of at most `inputTokens`, for long and short prompts alike. */
function highestPrice(price: TokenPrice, categories: readonly TokenCategory[], inputTokens: number): Nanos {
  // Tokens that a vendor adds to the prompt may cross a price step.
  const longest = inputTokens + INPUT_MARGIN;
  const lengths = [
    0,
    ...longContextSteps(price)
      .filter((above) => above < longest)
      .map((above) => above + 1),
  ];
  return categories
    .flatMap((category) => lengths.map((length) => amountAt(tokenRate(price, category), length)))
    .reduce((max, next) => (next > max ? next : max));
}
