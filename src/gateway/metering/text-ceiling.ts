import { MAX_CHARGE } from "../../domain/ledger.ts";
import { amountAt, longContextSteps, type TokenPrice, tokenRate } from "../../domain/price.ts";
import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  type TokenCategory,
  type UseCounts,
} from "../../domain/usage.ts";
import { divideHalfUp, type Nanos } from "../../lib/money.ts";
import { INPUT_MARGIN } from "./usage-policy.ts";
import { entriesOf } from "../../lib/json.ts";

/**
 * Returns the maximum cost of a text request. Every input token counts in the most expensive category. All output
 * tokens that the request may get and all uses of its features count too.
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

/** Returns the number of output tokens that an amount covers after the input: the inverse of `textCeiling`. */
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
  for (const [name, count] of entriesOf(uses)) sum += (perUse[name]?.amount ?? 0n) * BigInt(count);
  return sum;
}

/** Upper bound of the result of `coveredOutput`. No model returns as many tokens. */
const MAX_OUTPUT_TOKENS = 2 ** 32;

/** Returns the highest price of a token, over the price steps that a request of at most `inputTokens` can reach. */
function highestPrice(price: TokenPrice, categories: readonly TokenCategory[], inputTokens: number): Nanos {
  // The tokens that a vendor adds may make the prompt longer than a price step.
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
