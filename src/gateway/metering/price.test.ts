import { expect, test } from "bun:test";
import type { FeatureUse } from "../../domain/feature.ts";
import type { ImageModel } from "../../domain/model.ts";
import { resolvePrice, type PriceRow } from "../../domain/price.ts";
import { findPrice, requireUsePrices } from "./price.ts";

const MODEL: ImageModel = {
  id: "m",
  displayName: "m",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  type: "image",
  family: "A",
  image: {
    sizeMode: "table",
    tiers: ["1K"],
    ratios: ["1:1"],
    sizes: {},
    qualities: ["low", "high"],
    formats: ["png"],
    backgrounds: [],
    maxImagesPerCall: 1,
  },
};

function find(perImage: Extract<PriceRow, { unit: "image" }>["perImage"]) {
  const origin = { currency: "USD", source: "default", effectiveFrom: 0, effectiveUntil: null } as const;
  const price = resolvePrice("image", "USD", [{ unit: "image", perImage, ...origin }]);
  return findPrice({ price: () => price }, { id: "org", currency: "USD" }, MODEL, 0);
}

test("a model is priced when any of its tiers and qualities is", () => {
  expect(find({ "1K": { high: 1n } })).not.toBeNull();
  expect(find({ "1K": { "*": 1n } })).not.toBeNull();
  expect(find({ "1K": { auto: 1n } })).not.toBeNull();
});

test("a model is not priced by tiers and qualities that it does not have", () => {
  expect(find({ "2K": { high: 1n } })).toBeNull();
  expect(find({ "1K": { max: 1n } })).toBeNull();
  expect(find({})).toBeNull();
});

test("a feature that is billed by use needs a price of it, which may be zero", () => {
  const rate = { amount: 0n, source: "default", effectiveFrom: 0 } as const;
  const price = { unit: "token", currency: "USD", perMillion: { input: rate, output: rate } } as const;
  const uses: FeatureUse[] = [{ feature: "web_search", param: "tools[0].type" }];
  expect(() => requireUsePrices(price, uses)).toThrow(
    expect.objectContaining({ code: "MODEL_PRICE_NOT_CONFIGURED", param: "tools[0].type" }),
  );
  expect(() => requireUsePrices({ ...price, perUse: { web_search: rate } }, uses)).not.toThrow();
  expect(() => requireUsePrices(price, [{ feature: "file_id", param: "a" }])).not.toThrow();
});
