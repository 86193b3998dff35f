import { expect, test } from "bun:test";
import { charge } from "./price.ts";
import { resolvePrice, type FeatureAmounts, type PriceRow, type PriceSource } from "./price.ts";
import type { UseCounts } from "./usage.ts";

const aRow = (source: PriceSource, perUse: FeatureAmounts): PriceRow => ({
  unit: "token",
  currency: "USD",
  source,
  effectiveFrom: 0,
  effectiveUntil: null,
  perMillion: source === "default" ? { input: 500_000n, output: 0n } : {},
  perUse,
});

function charged(uses: UseCounts, ...rows: PriceRow[]) {
  const price = resolvePrice("token", "USD", rows);
  return price ? charge(price, { unit: "token", tokens: { input: 1 }, uses, source: "upstream" }) : null;
}

test("each use costs its price beside the tokens, and all is rounded once", () => {
  const row = aRow("default", { web_search: 10n });
  expect(charged({ web_search: 3 }, row)?.amount).toBe(31n);
  expect(charged({}, row)?.amount).toBe(1n);
});

test("a price of a use falls back by itself, and an own one counts as the organization's", () => {
  const rows = [
    aRow("organization", { web_search: 7n }),
    aRow("default", { web_search: 10n, web_fetch: 2n }),
  ];
  expect(charged({ web_search: 1 }, ...rows)).toEqual({ amount: 8n, source: "organization" });
  expect(charged({ web_fetch: 1 }, ...rows)).toEqual({ amount: 3n, source: "default" });
});

test("uses that are billed apart have no charge without a price; those of no price of their own are free", () => {
  const row = aRow("default", {});
  expect(charged({ web_search: 1 }, row)).toBeUndefined();
  expect(charged({ web_fetch: 1 }, row)?.amount).toBe(1n);
});
