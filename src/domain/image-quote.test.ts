import { describe, expect, test } from "bun:test";
import { billedCell, quoteImage } from "./image-quote.ts";
import { resolvePrice, type PriceAmounts } from "./price.ts";

const QUALITIES = { qualities: ["low", "medium", "high"] };

function priceOf(perImage: Extract<PriceAmounts, { unit: "image" }>["perImage"]) {
  const row = { currency: "USD", source: "default", effectiveFrom: 0, effectiveUntil: null } as const;
  const price = resolvePrice("image", "USD", [{ unit: "image", perImage, ...row }]);
  if (price?.unit !== "image") throw new Error("no image price");
  return price;
}

const tiered = priceOf({ "1K": { low: 1n, medium: 2n, high: 9n }, "2K": { low: 4n, medium: 8n, high: 20n } });

describe("a quote", () => {
  test("of `auto` is the dearest quality, whichever that is", () => {
    const odd = priceOf({ "1K": { low: 7n, medium: 2n, high: 5n } });
    expect(quoteImage(odd, QUALITIES, "1K", "auto")).toMatchObject({
      quality: "auto",
      billedQuality: "low",
      rate: { amount: 7n },
      settlesBy: "delivered",
    });
  });

  test("of `auto` with an amount of its own is that, and fixed", () => {
    const fixed = priceOf({ "1K": { high: 9n, auto: 3n } });
    expect(quoteImage(fixed, QUALITIES, "1K", "auto")).toMatchObject({
      rate: { amount: 3n },
      settlesBy: "request",
    });
  });

  test("of a model without qualities is the amount for all", () => {
    const flat = priceOf({ "1K": { "*": 3n } });
    expect(quoteImage(flat, { qualities: [] }, "1K", "auto")).toMatchObject({
      rate: { amount: 3n },
      billedQuality: "auto",
      settlesBy: "request",
    });
  });

  test("of a cell that nothing covers does not exist", () => {
    expect(quoteImage(tiered, QUALITIES, "4K", "high")).toBeUndefined();
    expect(quoteImage(tiered, QUALITIES, "4K", "auto")).toBeUndefined();
    expect(quoteImage(priceOf({ "1K": { low: 1n } }), QUALITIES, "1K", "high")).toBeUndefined();
  });
});

describe("what is billed", () => {
  const billed = (
    tier: "1K" | "2K",
    quality: string,
    delivered: ["1K" | "2K" | "4K", string?],
    defaultQuality?: string,
  ) => {
    const model = { ...QUALITIES, ...(defaultQuality !== undefined && { defaultQuality }) };
    const quote = quoteImage(tiered, model, tier, quality)!;
    const cell = billedCell(tiered, model, quote, { tier: delivered[0], quality: delivered[1] });
    return `${cell.tier}:${cell.quality}`;
  };

  test("of `auto` is what the vendor reports, else the default quality, else the quote", () => {
    expect(billed("1K", "auto", ["1K", "low"])).toBe("1K:low");
    expect(billed("1K", "auto", ["1K"], "medium")).toBe("1K:medium");
    expect(billed("1K", "auto", ["1K", "splendid"])).toBe("1K:high");
  });

  test("of `auto` with an amount of its own is that, whatever the vendor reports", () => {
    const fixed = priceOf({ "1K": { low: 1n, high: 9n, auto: 3n } });
    const quote = quoteImage(fixed, QUALITIES, "1K", "auto")!;
    const cell = billedCell(fixed, QUALITIES, quote, { tier: "1K", quality: "low" });
    expect(cell).toEqual({ tier: "1K", quality: "auto" });
  });

  test("is never dearer than the quote", () => {
    expect(billed("1K", "low", ["1K", "high"])).toBe("1K:low");
    expect(billed("1K", "medium", ["2K", "medium"])).toBe("1K:medium");
    expect(billed("2K", "medium", ["4K", "medium"])).toBe("2K:medium");
  });

  test("is what a vendor did that did less than requested", () => {
    expect(billed("2K", "high", ["1K", "high"])).toBe("1K:high");
    expect(billed("2K", "high", ["2K", "low"])).toBe("2K:low");
  });
});
