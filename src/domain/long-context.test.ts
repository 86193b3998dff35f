import { expect, test } from "bun:test";
import { charge } from "./price.ts";
import { amountAt, resolvePrice, type PriceRow, type TokenPrice } from "./price.ts";
import type { TokenCounts } from "./usage.ts";

const ORIGIN = { currency: "USD", effectiveFrom: 0, effectiveUntil: null } as const;
const MILLION = 1_000_000n;

/** Prices in nano-units per token: input 1, output 4, cache writes 3. Above 100 input tokens: input 2 and output 6. */
const SHIPPED: PriceRow = {
  ...ORIGIN,
  unit: "token",
  source: "default",
  perMillion: { input: MILLION, output: 4n * MILLION, cacheWrite: 3n * MILLION },
  longContext: { above: 100, perMillion: { input: 2n * MILLION, output: 6n * MILLION } },
};

function priceOf(...rows: PriceRow[]): TokenPrice {
  const price = resolvePrice("token", "USD", rows);
  if (price?.unit !== "token") throw new Error("no price");
  return price;
}

const cost = (price: TokenPrice, tokens: TokenCounts) =>
  charge(price, { unit: "token", tokens, source: "upstream" })?.amount;

test("all tokens of a long request cost the dearer amounts, not only those above the number", () => {
  const price = priceOf(SHIPPED);
  expect(cost(price, { input: 100, output: 10 })).toBe(140n);
  expect(cost(price, { input: 101, output: 10 })).toBe(262n);
});

test("every category of input makes a request long, and none of output does", () => {
  const price = priceOf(SHIPPED);
  for (const category of ["cacheRead", "cacheWrite1h", "imageInput"] as const)
    expect(cost(price, { input: 60, [category]: 41, output: 1 })).toBeGreaterThan(
      cost(price, { input: 60, [category]: 40, output: 1 })! + 60n,
    );
  expect(cost(price, { input: 100, output: 500, reasoning: 500 })).toBe(4_100n);
});

test("a category costs as its relative in long requests too, and one without a dearer amount stays", () => {
  const price = priceOf(SHIPPED);
  expect(cost(price, { cacheRead: 200 })).toBe(400n);
  expect(cost(price, { input: 101, reasoning: 1 })).toBe(208n);
  expect(cost(price, { cacheWrite: 200 })).toBe(600n);
});

test("an organization's own flat amount stays flat, and its dearer one is of its own row", () => {
  const own: PriceRow = { ...ORIGIN, unit: "token", source: "organization", perMillion: { input: MILLION } };
  expect(cost(priceOf(own, SHIPPED), { input: 200, output: 1 })).toBe(206n);
  const longContext = { above: 150, perMillion: { input: 9n * MILLION } };
  const stepped = priceOf({ ...own, longContext }, SHIPPED);
  expect(cost(stepped, { input: 150, output: 1 })).toBe(156n);
  expect(cost(stepped, { input: 151, output: 1 })).toBe(1_365n);
});

test("a rate has its dearer amount above the number only", () => {
  const { input } = priceOf(SHIPPED).perMillion;
  expect([0, 100, 101].map((tokens) => amountAt(input, tokens))).toEqual([MILLION, MILLION, 2n * MILLION]);
});
