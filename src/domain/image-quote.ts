import type { Nanos } from "../lib/money.ts";
import type { ImageCapability } from "./model.ts";
import { imageRate, type ImagePrice, type Rate } from "./price.ts";
import type { SizeTier } from "./usage.ts";

/** The maximum price of one image of a request: shown by the price lookup, and held before the vendor is called. */
export interface ImageQuote {
  tier: SizeTier;
  /** The requested quality: one of the model's qualities, or `auto`. */
  quality: string;
  rate: Rate;
  /**
   * The quality of `rate`. It is the requested quality, with one exception: `auto` becomes the most expensive quality
   * if the price has no amount for `auto` and the model has qualities.
   */
  billedQuality: string;
  /**
   * `request`: `rate` is for the requested quality. The charge is lower if the vendor delivers a cheaper tier. For a
   * quality other than `auto`, the charge is also lower if the vendor reports a cheaper quality. `delivered`: `rate` is
   * for the most expensive quality. The quality that the vendor reports decides the charge.
   */
  settlesBy: "request" | "delivered";
}

/** Tier and quality of a delivered image, as far as known. */
interface DeliveredImageFacts {
  tier: SizeTier;
  /** The quality that the vendor reports; undefined when the vendor reports none. */
  quality: string | undefined;
}

/**
 * Returns the maximum price of an image of this tier and quality; undefined when the price has no amount for the image.
 * If the price has no amount for `auto`, `auto` is quoted at the most expensive quality; `billedCell` decides the
 * charge.
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
 * Returns the tier and quality by which a delivered image is billed. These are the tier and quality that took effect,
 * but never more expensive than the tier and quality of the quote. `auto` is billed as `auto` if the price has an
 * amount for it. Otherwise `auto` is billed by the quality that the vendor reports, else by `defaultQuality`, else by
 * the quote.
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
