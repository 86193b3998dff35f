import { divideHalfUp, type Nanos } from "../lib/money.ts";
import { TOKEN_CATEGORIES, type SizeTier, type TokenCategory, type Usage } from "./usage.ts";

/**
 * A price row that is in force, and the only multiplication of money in the gateway.
 */
export type Price = ImagePrice | TokenPrice;

interface PriceOrigin {
  /** ISO 4217. */
  currency: string;
  source: "organization" | "default";
  /** Unix milliseconds. */
  effectiveFrom: number;
}

export interface ImagePrice extends PriceOrigin {
  unit: "image";
  /** Price of one image by tier, then by quality; the quality `*` stands for every quality without a row. */
  perImage: Partial<Record<SizeTier, Readonly<Record<string, Nanos>>>>;
}

export interface TokenPrice extends PriceOrigin {
  unit: "token";
  /** Price of one million tokens by category. `input` and `output` are always there. */
  perMillion: Partial<Record<TokenCategory, Nanos>> & { input: Nanos; output: Nanos };
}

/** What a category without a row of its own costs as. */
const FALLBACK: Record<TokenCategory, TokenCategory> = {
  input: "input",
  cacheRead: "input",
  cacheWrite: "input",
  cacheWrite1h: "cacheWrite",
  output: "output",
  reasoning: "output",
  imageInput: "input",
  imageOutput: "output",
};

/** ISO time from which a price holds; null for one that always held, as a configured one does. */
export function priceStart(effectiveFrom: number): string | null {
  return effectiveFrom === 0 ? null : new Date(effectiveFrom).toISOString();
}

/** The price of one image, or undefined when this tier and quality have no row. */
export function imageUnitPrice(price: ImagePrice, tier: SizeTier, quality: string): Nanos | undefined {
  const row = price.perImage[tier];
  return row && (Object.hasOwn(row, quality) ? row[quality] : row["*"]);
}

/** The price of a million tokens of a category, following the documented fallbacks. */
export function tokenPrice(price: TokenPrice, category: TokenCategory): Nanos {
  const own = price.perMillion[category];
  if (own !== undefined) return own;
  const next = FALLBACK[category];
  return next === category ? 0n : tokenPrice(price, next);
}

/** The bill for a usage, rounded once, half up. Undefined when an image price lacks the row. */
export function charge(price: Price, usage: Usage): Nanos | undefined {
  if (usage.unit === "image") {
    if (price.unit !== "image") return undefined;
    const unit = imageUnitPrice(price, usage.tier, usage.quality);
    return unit === undefined ? undefined : unit * BigInt(usage.count);
  }
  if (price.unit !== "token") return undefined;
  let numerator = 0n;
  for (const category of TOKEN_CATEGORIES) {
    const count = usage.tokens[category];
    if (count) numerator += BigInt(count) * tokenPrice(price, category);
  }
  return divideHalfUp(numerator, 1_000_000n);
}
