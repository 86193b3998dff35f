import type { Nanos } from "../lib/money.ts";
import type { ImageCapability } from "./model.ts";
import { imageRate, type ImagePrice, type Rate } from "./price.ts";
import type { SizeTier } from "./usage.ts";

/** The maximum price of one image of a request: shown by the price lookup and held before the vendor is called. */
export interface ImageQuote {
  tier: SizeTier;
  /** The requested quality: one of the model's, or `auto`. */
  quality: string;
  rate: Rate;
  /** The cell of `rate`: a quality, or `auto` when the price names it or the model has no qualities. */
  billedQuality: string;
  /**
   * `request`: `rate` is final. `delivered`: `rate` is that of the dearest quality, and the quality that the vendor
   * reports decides the charge.
   */
  settlesBy: "request" | "delivered";
}

/** The values of a delivered image that took effect, as far as they are known. */
interface DeliveredImageFacts {
  tier: SizeTier;
  /** The quality that the vendor reports. */
  quality: string | undefined;
}

/**
 * Quotes a tier and quality. `auto` costs its own fixed amount when the price has one; otherwise it is quoted at the
 * dearest quality and settled by the vendor's report. Undefined when no amount covers it.
 */
export function quoteImage(
  price: ImagePrice,
  { qualities }: Pick<ImageCapability, "qualities">,
  tier: SizeTier,
  quality: string,
): ImageQuote | undefined {
  const hasAuto = Object.hasOwn(price.perImage[tier] ?? {}, "auto");
  if (quality !== "auto" || hasAuto || qualities.length === 0) {
    const rate = imageRate(price, tier, quality);
    return rate && { tier, quality, rate, billedQuality: quality, settlesBy: "request" };
  }
  let dearest: ImageQuote | undefined;
  for (const each of qualities) {
    const rate = imageRate(price, tier, each);
    if (rate && (!dearest || rate.amount >= dearest.rate.amount))
      dearest = { tier, quality, rate, billedQuality: each, settlesBy: "delivered" };
  }
  return dearest;
}

/**
 * Returns the cell that a delivered image is billed by: the tier and quality that took effect, never dearer than the
 * quote. When the vendor reports no quality of the model, `auto` is billed by the quality that the model is known to
 * choose, or by the quote.
 */
export function billedCell(
  price: ImagePrice,
  { qualities, defaultQuality }: Pick<ImageCapability, "qualities" | "defaultQuality">,
  quote: ImageQuote,
  delivered: DeliveredImageFacts,
): { tier: SizeTier; quality: string } {
  const held = { tier: quote.tier, quality: quote.billedQuality };
  const isFixed = quote.settlesBy === "request" && quote.quality === "auto";
  const reported =
    delivered.quality !== undefined && qualities.includes(delivered.quality) ? delivered.quality : undefined;
  const chosen = reported ?? (quote.settlesBy === "delivered" ? defaultQuality : undefined);
  const quality = isFixed ? held.quality : (chosen ?? held.quality);
  const candidates = [
    { tier: delivered.tier, quality },
    { tier: quote.tier, quality },
  ];
  const limit: Nanos = quote.rate.amount;
  const covered = candidates.find((cell) => {
    const rate = imageRate(price, cell.tier, cell.quality);
    return rate !== undefined && rate.amount <= limit;
  });
  return covered ?? held;
}
