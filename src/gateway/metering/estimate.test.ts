import { expect, test } from "bun:test";
import type { Rate, TokenPrice } from "../../domain/price.ts";
import { coveredOutput, textCeiling } from "./estimate.ts";

const perToken = (amount: bigint): Rate => ({
  amount: amount * 1_000_000n,
  source: "default",
  effectiveFrom: 0,
});
const price: TokenPrice = {
  unit: "token",
  currency: "USD",
  perMillion: {
    input: perToken(1n),
    cacheWrite: perToken(3n),
    output: perToken(2n),
    reasoning: perToken(5n),
  },
};

test("a ceiling has input and output, each in its dearest category", () => {
  expect(textCeiling(price, 10, 4)).toBe(30n + 20n + 1n);
});

test("what an amount covers is the most output whose ceiling it pays", () => {
  for (let amount = 31n; amount < 100n; amount += 1n) {
    const output = coveredOutput(price, 10, amount);
    expect(textCeiling(price, 10, output)).toBeLessThanOrEqual(amount);
    expect(textCeiling(price, 10, output + 1)).toBeGreaterThan(amount);
  }
  expect(coveredOutput(price, 10, 20n)).toBe(0);
});
