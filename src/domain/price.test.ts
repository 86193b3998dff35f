import { describe, expect, test } from "bun:test";
import { charge } from "./price.ts";
import type { ImagePrice, PriceSource, Rate, TokenPrice } from "./price.ts";
import type { TokenCounts } from "./usage.ts";

const rate = (amount: bigint, source: PriceSource = "default"): Rate => ({
  amount,
  source,
  effectiveFrom: 0,
});

/**
 * Returns the charge for tokens. A token costs 1 nano-unit as input and 4 as output. `perMillion` adds or replaces
 * amounts.
 */
function charged(tokens: TokenCounts, perMillion: Partial<TokenPrice["perMillion"]> = {}) {
  const price: TokenPrice = {
    unit: "token",
    currency: "USD",
    perMillion: { input: rate(1_000_000n), output: rate(4_000_000n), ...perMillion },
  };
  return charge(price, { unit: "token", tokens, source: "upstream" })!;
}

describe("tokens", () => {
  test.each([
    ["input", 10n],
    ["cacheRead", 10n],
    ["cacheWrite", 10n],
    ["cacheWrite1h", 10n],
    ["imageInput", 10n],
    ["output", 40n],
    ["reasoning", 40n],
    ["imageOutput", 40n],
  ] as const)("of %s without a rate of their own cost %d", (category, amount) => {
    expect(charged({ [category]: 10 }).amount).toBe(amount);
  });

  test.each(["cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "imageInput", "imageOutput"] as const)(
    "of %s cost their own rate",
    (category) => {
      expect(charged({ input: 1, [category]: 10 }, { [category]: rate(3_000_000n) }).amount).toBe(31n);
    },
  );

  test("that are cached for an hour cost what other cached ones do", () => {
    expect(charged({ cacheWrite1h: 10 }, { cacheWrite: rate(2_000_000n) }).amount).toBe(20n);
  });

  test("are rounded once, half up", () => {
    const half = { input: rate(500_000n), output: rate(500_000n) };
    expect(charged({ input: 1 }, half).amount).toBe(1n);
    expect(charged({ input: 1, output: 1 }, half).amount).toBe(1n);
    expect(charged({ input: 1 }, { input: rate(499_999n) }).amount).toBe(0n);
  });

  test("cost the organization's own price as soon as one rate is its own", () => {
    const own = { cacheRead: rate(1n, "organization") };
    expect(charged({ input: 1, cacheRead: 1 }, own).source).toBe("organization");
    expect(charged({ input: 1 }, own).source).toBe("default");
  });
});

describe("pictures", () => {
  const price: ImagePrice = { unit: "image", currency: "USD", perImage: { "1K": { "*": rate(40n) } } };

  test("cost the rate of their tier each", () => {
    expect(charge(price, { unit: "image", count: 3, tier: "1K", quality: "low" })?.amount).toBe(120n);
  });

  test("of a tier without a row have no price, not even none", () => {
    expect(charge(price, { unit: "image", count: 1, tier: "2K", quality: "low" })).toBeUndefined();
  });
});
