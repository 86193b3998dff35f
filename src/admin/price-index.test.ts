import { expect, test } from "bun:test";
import type { PriceRecord } from "./ports.ts";
import type { Price } from "../domain/price.ts";
import { priceIndex } from "./price-index.ts";

function aRow(input: bigint, effectiveFrom: number, organizationId: string | null): PriceRecord {
  return {
    id: `price_${input}`,
    organizationId,
    model: "m",
    currency: "USD",
    price: { unit: "token", perMillion: { input, output: 0n } },
    effectiveFrom,
    createdAt: effectiveFrom,
  };
}

function configuredPrice(input: bigint, effectiveFrom: number): Price {
  const perMillion = { input, output: 0n };
  return { unit: "token", perMillion, currency: "USD", source: "default", effectiveFrom };
}

const input = (price: Price | undefined) => price?.unit === "token" && price.perMillion.input;

const index = priceIndex(
  [aRow(1n, 100, "org"), aRow(2n, 200, "org"), aRow(3n, 50, null), aRow(4n, 150, null)],
  new Map([
    ["m", [configuredPrice(5n, 0), configuredPrice(6n, 20)]],
    ["n", [configuredPrice(7n, 0)]],
  ]),
);

test("an organization's own price goes before the stored default, and that before the configured one", () => {
  expect(input(index("org", "m", 120))).toBe(1n);
  expect(input(index("other", "m", 120))).toBe(3n);
  expect(input(index("org", "n", 120))).toBe(7n);
  expect(index("org", "nothing", 120)).toBeUndefined();
});

test("of several prices the latest that has begun is in force", () => {
  expect(input(index("org", "m", 199))).toBe(1n);
  expect(input(index("org", "m", 200))).toBe(2n);
  expect(input(index("org", "m", 99))).toBe(3n);
  expect(input(index("other", "m", 150))).toBe(4n);
  expect(input(index("other", "m", 30))).toBe(6n);
  expect(input(index("other", "m", 10))).toBe(5n);
});

test("a price tells where it comes from", () => {
  expect(index("org", "m", 120)?.source).toBe("organization");
  expect(index("other", "m", 120)?.source).toBe("default");
});

test("of two rows that begin together the one added last is in force", () => {
  const twice = [aRow(1n, 100, null), { ...aRow(2n, 100, null), createdAt: 101 }];
  expect(input(priceIndex(twice, new Map())("org", "m", 100))).toBe(2n);
});
