import { expect, test } from "bun:test";
import fc from "fast-check";
import { readVendorCost, sumVendorCosts } from "./usage.ts";

const usd = (amount: bigint) => ({ amount, currency: "USD" });

test("dollars, ticks and credits become nano-units", () => {
  expect(readVendorCost(0.00014)).toEqual(usd(140_000n));
  expect(readVendorCost(400_000_000, 10_000_000_000)).toEqual(usd(40_000_000n));
  expect(readVendorCost(4, 100)).toEqual(usd(40_000_000n));
  expect(readVendorCost(0)).toEqual(usd(0n));
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, "0.1", null, undefined, true, {}, 5n])(
  "%p is no cost",
  (value) => {
    expect(readVendorCost(value)).toBeUndefined();
  },
);

test("no cost is negative or above a million", () => {
  const hostile = fc.oneof(fc.double(), fc.bigInt(), fc.string(), fc.anything());
  fc.assert(
    fc.property(hostile, fc.constantFrom(1, 100, 1e10), (value, perDollar) => {
      const cost = readVendorCost(value, perDollar);
      if (cost) expect(cost.amount >= 0n && cost.amount <= 10n ** 15n).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(readVendorCost(1e308)).toEqual(usd(10n ** 15n));
});

test("a sum is known only when every part is", () => {
  expect(sumVendorCosts([usd(1n), usd(2n)])).toEqual(usd(3n));
  expect(sumVendorCosts([usd(1n), undefined])).toBeUndefined();
  expect(sumVendorCosts([usd(1n), { amount: 1n, currency: "EUR" }])).toBeUndefined();
  expect(sumVendorCosts([])).toBeUndefined();
});
