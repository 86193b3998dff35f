import { describe, expect, test } from "bun:test";
import { imageRate, tokenRate, type PriceAmounts, type PriceRow } from "../../domain/price.ts";
import { priceIndex } from "./price-index.ts";
import type { PriceRecord } from "./store-port.ts";

const ORGANIZATION = { id: "org", currency: "USD" };
const OTHER = { id: "other", currency: "USD" };

function aRow(price: PriceAmounts, change: Partial<PriceRecord> = {}): PriceRecord {
  const origin = { organizationId: null, model: "m", currency: "USD" };
  return {
    id: "price_1",
    ...origin,
    price,
    effectiveFrom: 100,
    effectiveUntil: null,
    createdAt: 100,
    ...change,
  };
}

function tokens(input: bigint, change: Partial<PriceRecord> = {}): PriceRecord {
  return aRow(
    { unit: "token", perMillion: { input, output: 0n } },
    { createdAt: change.effectiveFrom, ...change },
  );
}

function configured(price: PriceAmounts, currency = "USD"): PriceRow {
  return { ...price, currency, source: "default", effectiveFrom: 0, effectiveUntil: null };
}

const shippedTokens = configured({ unit: "token", perMillion: { input: 5n, output: 0n } });

describe("of tokens", () => {
  const index = priceIndex(
    [
      tokens(1n, { effectiveFrom: 100, organizationId: "org" }),
      tokens(2n, { effectiveFrom: 200, organizationId: "org" }),
      tokens(3n, { effectiveFrom: 50 }),
      tokens(4n, { effectiveFrom: 150 }),
    ],
    new Map([
      ["m", shippedTokens],
      ["n", shippedTokens],
    ]),
  );
  const input = (payer: typeof OTHER, model: string, now: number) => {
    const price = index(payer, model, "token", now);
    return price?.unit === "token" ? price.perMillion.input.amount : null;
  };

  test("an organization's own price goes before the stored default, and that before the configured one", () => {
    expect(input(ORGANIZATION, "m", 120)).toBe(1n);
    expect(input(OTHER, "m", 120)).toBe(3n);
    expect(input(ORGANIZATION, "n", 120)).toBe(5n);
    expect(index(ORGANIZATION, "nothing", "token", 120)).toBeNull();
  });

  test("the latest row that has begun is in force, in any order of queries", () => {
    expect(input(ORGANIZATION, "m", 199)).toBe(1n);
    expect(input(ORGANIZATION, "m", 200)).toBe(2n);
    expect(input(ORGANIZATION, "m", 99)).toBe(3n);
    expect(input(OTHER, "m", 150)).toBe(4n);
    expect(input(OTHER, "m", 10)).toBe(5n);
    expect(input(ORGANIZATION, "m", 200)).toBe(2n);
  });

  test("a rate names its source", () => {
    expect(index(ORGANIZATION, "m", "token", 120)).toMatchObject({
      perMillion: { input: { source: "organization", effectiveFrom: 100 } },
    });
    expect(index(OTHER, "m", "token", 120)).toMatchObject({ perMillion: { input: { source: "default" } } });
  });
});

test("of two rows that begin together the one added last is in force", () => {
  const twice = [tokens(1n, { effectiveFrom: 100 }), tokens(2n, { effectiveFrom: 100, createdAt: 101 })];
  const price = priceIndex(twice, new Map())(OTHER, "m", "token", 100);
  expect(price).toMatchObject({ perMillion: { input: { amount: 2n } } });
});

test("an organization's row of one cell leaves the other cells to the defaults and the configuration", () => {
  const rows = [
    aRow({ unit: "image", perImage: { "1K": { high: 9n } } }, { organizationId: "org" }),
    aRow({ unit: "image", perImage: { "1K": { high: 7n, low: 6n } } }),
  ];
  const shipped = configured({
    unit: "image",
    perImage: { "1K": { low: 1n, medium: 2n }, "2K": { "*": 3n } },
  });
  const price = priceIndex(rows, new Map([["m", shipped]]))(ORGANIZATION, "m", "image", 100);
  if (price?.unit !== "image") throw new Error("no image price");
  const cell = (tier: "1K" | "2K" | "4K", quality: string) => imageRate(price, tier, quality)?.amount;
  expect([cell("1K", "high"), cell("1K", "low"), cell("1K", "medium")]).toEqual([9n, 6n, 2n]);
  expect([cell("2K", "high"), cell("4K", "high")]).toEqual([3n, undefined]);
  expect(imageRate(price, "1K", "high")?.source).toBe("organization");
  expect(imageRate(price, "1K", "medium")?.source).toBe("default");
});

test("an amount for every quality of a tier covers the qualities that weaker rows name", () => {
  const own = aRow({ unit: "image", perImage: { "1K": { "*": 1n } } }, { organizationId: "org" });
  const shipped = configured({ unit: "image", perImage: { "1K": { high: 9n } } });
  const price = priceIndex([own], new Map([["m", shipped]]))(ORGANIZATION, "m", "image", 100);
  expect(price?.unit === "image" && imageRate(price, "1K", "high")?.amount).toBe(1n);
});

test("a category falls back by itself, and to its related category only where no row prices it", () => {
  const own = aRow({ unit: "token", perMillion: { output: 8n } }, { organizationId: "org" });
  const shipped = configured({ unit: "token", perMillion: { input: 4n, output: 5n, cacheRead: 1n } });
  const price = priceIndex([own], new Map([["m", shipped]]))(ORGANIZATION, "m", "token", 100);
  if (price?.unit !== "token") throw new Error("no token price");
  const categories = ["input", "output", "cacheRead", "cacheWrite1h", "reasoning"] as const;
  expect(categories.map((category) => tokenRate(price, category).amount)).toEqual([4n, 8n, 1n, 4n, 8n]);
});

test("a later row of one cell keeps the cells that an earlier row of the same owner named", () => {
  const rows = [
    aRow({ unit: "token", perMillion: { input: 1n, output: 2n } }),
    aRow({ unit: "token", perMillion: { input: 3n } }, { id: "price_2", effectiveFrom: 101 }),
  ];
  const price = priceIndex(rows, new Map())(OTHER, "m", "token", 101);
  expect(price).toMatchObject({ perMillion: { input: { amount: 3n }, output: { amount: 2n } } });
});

test("a default in another currency does not hide the configured price", () => {
  const index = priceIndex([tokens(1n, { currency: "EUR" })], new Map([["m", shippedTokens]]));
  expect(index(OTHER, "m", "token", 100)).toMatchObject({
    currency: "USD",
    perMillion: { input: { amount: 5n } },
  });
  expect(index({ id: "e", currency: "EUR" }, "m", "token", 100)).toMatchObject({
    currency: "EUR",
    perMillion: { input: { amount: 1n } },
  });
  expect(index({ id: "c", currency: "CHF" }, "m", "token", 100)).toBeNull();
});

test("an ended row gives way to the row before it", () => {
  const rows = [
    tokens(1n, { effectiveFrom: 10 }),
    tokens(2n, { id: "price_2", effectiveFrom: 20, effectiveUntil: 30 }),
  ];
  const index = priceIndex(rows, new Map([["m", shippedTokens]]));
  const input = (now: number) => {
    const price = index(OTHER, "m", "token", now);
    return price?.unit === "token" ? price.perMillion.input.amount : null;
  };
  expect([input(9), input(10), input(20), input(29), input(30)]).toEqual([5n, 1n, 2n, 2n, 1n]);
});
