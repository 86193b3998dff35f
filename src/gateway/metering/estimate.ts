import { MAX_CHARGE } from "../../domain/ledger.ts";
import { tokenRate, type TokenPrice } from "../../domain/price.ts";
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES, type TokenCategory } from "../../domain/usage.ts";
import { divideHalfUp, type Nanos } from "../../lib/money.ts";

/** The most a text request may cost: every input token in the dearest category, every output token it may get. */
export function textCeiling(price: TokenPrice, inputTokens: number, outputTokens: number): Nanos {
  const numerator =
    BigInt(inputTokens) * dearest(price, INPUT_CATEGORIES) +
    BigInt(outputTokens) * dearest(price, OUTPUT_CATEGORIES);
  const ceiling = divideHalfUp(numerator, 1_000_000n) + 1n;
  return ceiling < MAX_CHARGE ? ceiling : MAX_CHARGE;
}

/** The output tokens that an amount covers beside the input: the inverse of `textCeiling`. */
export function coveredOutput(price: TokenPrice, inputTokens: number, amount: Nanos): number {
  const output = dearest(price, OUTPUT_CATEGORIES);
  if (output === 0n) return MAX_OUTPUT_TOKENS;
  const rest = (amount - 1n) * 1_000_000n - BigInt(inputTokens) * dearest(price, INPUT_CATEGORIES);
  return rest < 0n ? 0 : Math.min(Number(rest / output), MAX_OUTPUT_TOKENS);
}

/** More than any model gives. */
const MAX_OUTPUT_TOKENS = 2 ** 32;

function dearest(price: TokenPrice, categories: readonly TokenCategory[]): Nanos {
  return categories
    .map((category) => tokenRate(price, category).amount)
    .reduce((max, next) => (next > max ? next : max));
}
