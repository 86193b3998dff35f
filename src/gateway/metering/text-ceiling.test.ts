import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { charge, type Rate, type TokenPrice } from "../../domain/price.ts";
import { MAX_CHARGE } from "../../domain/ledger.ts";
import { coveredOutput, textCeiling } from "./text-ceiling.ts";
import { INPUT_MARGIN } from "./usage-policy.ts";

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

test("a ceiling has input and output, each in its most expensive category", () => {
  expect(textCeiling(price, 10, 4)).toBe(30n + 20n + 1n);
});

test("a ceiling is no more than a ledger entry can have", () => {
  expect(textCeiling(price, 2 ** 32, Number.MAX_SAFE_INTEGER)).toBeLessThan(MAX_CHARGE);
  expect(textCeiling(price, Number.MAX_SAFE_INTEGER, 1e18)).toBe(MAX_CHARGE);
});

test("what an amount covers is the most output whose ceiling it pays", () => {
  for (let amount = 31n; amount < 100n; amount += 1n) {
    const output = coveredOutput(price, 10, amount);
    expect(textCeiling(price, 10, output)).toBeLessThanOrEqual(amount);
    expect(textCeiling(price, 10, output + 1)).toBeGreaterThan(amount);
  }
  expect(coveredOutput(price, 10, 20n)).toBe(0);
});

test("a ceiling has every use of a feature that costs something, which the covered output leaves aside", () => {
  const searching = { ...price, perUse: { web_search: { ...perToken(1n), amount: 7n } } };
  const uses = { web_search: 3, web_fetch: 9 };
  expect(textCeiling(searching, 10, 4, uses)).toBe(textCeiling(price, 10, 4) + 21n);
  expect(coveredOutput(searching, 10, 100n, uses)).toBe(coveredOutput(price, 10, 79n));
});

describe("of a price that depends on the length", () => {
  const rate = fc.bigInt({ min: 0n, max: 10n ** 10n });
  const above = fc.integer({ min: 1, max: 20_000 });
  const longRate = fc.record({ amount: rate, above, long: fc.option(rate) });
  const prices = fc
    .record({ input: longRate, cacheWrite: longRate, output: longRate, reasoning: longRate })
    .map((rates): TokenPrice => {
      const perMillion = Object.fromEntries(
        Object.entries(rates).map(([category, { amount, above: step, long }]) => [
          category,
          {
            amount,
            source: "default",
            effectiveFrom: 0,
            ...(long !== null && { longContext: { above: step, amount: long } }),
          } satisfies Rate,
        ]),
      ) as TokenPrice["perMillion"];
      return { unit: "token", currency: "USD", perMillion };
    });
  const tokens = fc.integer({ min: 0, max: 20_000 });

  test("the ceiling covers every usage within it, long or short", () => {
    fc.assert(
      fc.property(prices, tokens, tokens, tokens, tokens, (price, input, cacheWrite, output, reasoning) => {
        const usage = {
          unit: "token",
          tokens: { input, cacheWrite, output, reasoning },
          source: "upstream",
        } as const;
        const ceiling = textCeiling(price, input + cacheWrite, output + reasoning);
        expect(ceiling).toBeGreaterThanOrEqual(charge(price, usage)!.amount);
        expect(textCeiling(price, input + cacheWrite + 5, output + reasoning)).toBeGreaterThanOrEqual(
          charge(price, usage)!.amount,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test("it is the price of long requests as soon as a vendor's additions may make the request long", () => {
    const longContext = { above: 10_000, amount: 7_000_000n };
    const stepped = {
      ...price,
      perMillion: { ...price.perMillion, output: { ...perToken(2n), longContext } },
    };
    expect(
      textCeiling(stepped, 10_000 - INPUT_MARGIN, 4) - textCeiling(price, 10_000 - INPUT_MARGIN, 4),
    ).toBe(0n);
    expect(
      textCeiling(stepped, 10_001 - INPUT_MARGIN, 4) - textCeiling(price, 10_001 - INPUT_MARGIN, 4),
    ).toBe(8n);
  });

  test("what an amount covers is the most output whose ceiling it pays", () => {
    fc.assert(
      fc.property(prices, tokens, fc.bigInt({ min: 1n, max: 10n ** 9n }), (price, input, amount) => {
        fc.pre(textCeiling(price, input, 0) <= amount);
        const output = coveredOutput(price, input, amount);
        expect(textCeiling(price, input, output)).toBeLessThanOrEqual(amount + 1n);
        if (output < 2 ** 32) expect(textCeiling(price, input, output + 1)).toBeGreaterThanOrEqual(amount);
      }),
    );
  });
});
