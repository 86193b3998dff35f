import { tokenRate, type TokenPrice } from "../../domain/price.ts";
import type { TokenCategory } from "../../domain/usage.ts";
import { divideHalfUp, type Nanos } from "../../lib/money.ts";

const INPUTS: readonly TokenCategory[] = ["input", "cacheRead", "cacheWrite", "cacheWrite1h", "imageInput"];
const OUTPUTS: readonly TokenCategory[] = ["output", "reasoning", "imageOutput"];

/** The most a text request may cost: every input token in the dearest category, every output token it may get. */
export function textCeiling(price: TokenPrice, inputTokens: number, outputTokens: number): Nanos {
  const numerator =
    BigInt(inputTokens) * dearest(price, INPUTS) + BigInt(outputTokens) * dearest(price, OUTPUTS);
  return divideHalfUp(numerator, 1_000_000n) + 1n;
}

function dearest(price: TokenPrice, categories: readonly TokenCategory[]): Nanos {
  return categories
    .map((category) => tokenRate(price, category).amount)
    .reduce((max, next) => (next > max ? next : max));
}
