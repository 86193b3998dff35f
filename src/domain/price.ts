import { divideHalfUp, type Nanos } from "../lib/money.ts";
import { ownValue, entriesOf } from "../lib/json.ts";
import { type Feature, isBilledFeature } from "./feature.ts";
import {
  INPUT_CATEGORIES,
  type SizeTier,
  sumTokens,
  TOKEN_CATEGORIES,
  type TokenCategory,
  type TokenUsage,
  type Usage,
} from "./usage.ts";

/** The owner of an amount's price row. A `default` row applies to all organizations, and is stored or configured. */
export type PriceSource = "organization" | "default";

/** The amounts of a price row in nano-units. Another row may contain the amounts that are missing here. */
export type PriceAmounts =
  | {
      unit: "image";
      /** Price of one image, by tier and quality. The quality `*` covers every quality without its own amount. */
      perImage: Partial<Record<SizeTier, Readonly<Record<string, Nanos>>>>;
    }
  | {
      unit: "token";
      /** Price of one million tokens, by category. */
      perMillion: Partial<Record<TokenCategory, Nanos>>;
      longContext?: LongContextAmounts;
      /** Price of one use of a feature that a vendor bills in addition to tokens. */
      perUse?: FeatureAmounts;
    };

export type FeatureAmounts = Partial<Record<Feature, Nanos>>;

/**
 * Prices for a request with more than `above` input tokens. They apply to all tokens of the request, including cached
 * tokens. Their categories are also in the row's `perMillion`. Other categories cost the same at any length.
 */
interface LongContextAmounts {
  above: number;
  perMillion: Partial<Record<TokenCategory, Nanos>>;
}

/** One price row, stored or configured. */
export type PriceRow = PriceAmounts & {
  /** ISO 4217 code of the currency. */
  currency: string;
  source: PriceSource;
  /** Unix milliseconds from which the row applies, inclusive. */
  effectiveFrom: number;
  /** Unix milliseconds until which the row applies, exclusive; null when the row has no end. */
  effectiveUntil: number | null;
};

/** One amount and its price row. */
export interface Rate {
  amount: Nanos;
  source: PriceSource;
  /** Unix milliseconds from which the row of the amount applies. */
  effectiveFrom: number;
  /** The amount for requests with more than `above` input tokens, if the price row has one. */
  longContext?: { above: number; amount: Nanos };
}

/** The price of one model for one organization at one time. Its amounts may come from different rows. */
export type Price = ImagePrice | TokenPrice;

export interface ImagePrice {
  unit: "image";
  currency: string;
  /** Rates by tier and then by quality or `*`, as in price rows. */
  perImage: Partial<Record<SizeTier, Readonly<Record<string, Rate>>>>;
}

export interface TokenPrice {
  unit: "token";
  currency: string;
  /** Rates by category of tokens. `input` and `output` always exist. */
  perMillion: Partial<Record<TokenCategory, Rate>> & { input: Rate; output: Rate };
  perUse?: Partial<Record<Feature, Rate>>;
}

/** For each category, the category whose price applies when the category itself has no price. */
const FALLBACK: Record<Exclude<TokenCategory, "input" | "output">, TokenCategory> = {
  cacheRead: "input",
  cacheWrite: "input",
  cacheWrite1h: "cacheWrite",
  reasoning: "output",
  imageInput: "input",
  imageOutput: "output",
};

/** Returns the start of a price as ISO text; null for a price without a start, such as a configured price. */
export function priceStart(effectiveFrom: number): string | null {
  return effectiveFrom === 0 ? null : new Date(effectiveFrom).toISOString();
}

/**
 * Combines rows of one currency and unit, ordered by precedence. Each amount comes from the first row that contains it,
 * or that has `*` for its tier. Returns null for a result that cannot charge: an image price without amounts, or a
 * token price without an amount for input or output.
 */
export function resolvePrice(unit: Price["unit"], currency: string, rows: readonly PriceRow[]): Price | null {
  return unit === "image" ? resolveImagePrice(currency, rows) : resolveTokenPrice(currency, rows);
}

/** Returns the rate of one image; undefined when no row covers this tier and quality. */
export function imageRate(price: ImagePrice, tier: SizeTier, quality: string): Rate | undefined {
  const row = price.perImage[tier];
  return row && (ownValue(row, quality) ?? row["*"]);
}

/** Returns the rate for a million tokens of a category, or of its fallback category. */
export function tokenRate(price: TokenPrice, category: TokenCategory): Rate {
  if (category === "input" || category === "output") return price.perMillion[category];
  return price.perMillion[category] ?? tokenRate(price, FALLBACK[category]);
}

/** Returns the amount of a rate for a request. `inputTokens` is the number of input tokens of all categories. */
export function amountAt({ amount, longContext }: Rate, inputTokens: number): Nanos {
  return longContext && inputTokens > longContext.above ? longContext.amount : amount;
}

/** Returns the numbers of input tokens above which an amount changes, in ascending order. */
export function longContextSteps(price: TokenPrice): number[] {
  const steps = Object.values(price.perMillion).flatMap(({ longContext }) => longContext?.above ?? []);
  return [...new Set(steps)].sort((one, other) => one - other);
}

/**
 * Returns the source and start of a whole price. The source is `organization` if at least one rate comes from the
 * organization's own rows. The start is the latest start of all rates.
 */
export function priceOrigin(price: Price): { source: PriceSource; effectiveFrom: number } {
  const rates: readonly Rate[] =
    price.unit === "image"
      ? Object.values(price.perImage).flatMap((cells) => Object.values(cells))
      : [...Object.values(price.perMillion), ...Object.values(price.perUse ?? {})];
  return {
    source: rates.some(({ source }) => source === "organization") ? "organization" : "default",
    effectiveFrom: Math.max(0, ...rates.map(({ effectiveFrom }) => effectiveFrom)),
  };
}

function resolveImagePrice(currency: string, rows: readonly PriceRow[]): ImagePrice | null {
  const perImage: Partial<Record<SizeTier, Record<string, Rate>>> = {};
  for (const row of rows) {
    if (row.unit !== "image") continue;
    for (const [tier, amounts] of entriesOf(row.perImage)) {
      const cells = (perImage[tier] ??= {});
      // `*` in an earlier row covers every quality, so that later rows add nothing to this tier.
      if (Object.hasOwn(cells, "*")) continue;
      for (const [quality, amount] of Object.entries(amounts))
        if (!Object.hasOwn(cells, quality)) cells[quality] = rateOf(row, amount);
    }
  }
  return Object.keys(perImage).length === 0 ? null : { unit: "image", currency, perImage };
}

function resolveTokenPrice(currency: string, rows: readonly PriceRow[]): TokenPrice | null {
  const perMillion: Partial<Record<TokenCategory, Rate>> = {};
  const perUse: Partial<Record<Feature, Rate>> = {};
  for (const row of rows) {
    if (row.unit !== "token") continue;
    for (const [feature, amount] of entriesOf(row.perUse ?? {})) perUse[feature] ??= rateOf(row, amount);
    for (const category of TOKEN_CATEGORIES) {
      const amount = row.perMillion[category];
      if (amount !== undefined) perMillion[category] ??= tokenRateOf(row, category, amount);
    }
  }
  const { input, output } = perMillion;
  if (!input || !output) return null;
  const price: TokenPrice = { unit: "token", currency, perMillion: { ...perMillion, input, output } };
  return Object.keys(perUse).length > 0 ? { ...price, perUse } : price;
}

function tokenRateOf(
  row: Extract<PriceRow, { unit: "token" }>,
  category: TokenCategory,
  amount: Nanos,
): Rate {
  const dearer = row.longContext?.perMillion[category];
  const rate = rateOf(row, amount);
  if (!row.longContext || dearer === undefined) return rate;
  return { ...rate, longContext: { above: row.longContext.above, amount: dearer } };
}

function rateOf({ source, effectiveFrom }: PriceRow, amount: Nanos): Rate {
  return { amount, source, effectiveFrom };
}

/** The charge for a usage. */
export interface ChargedAmount {
  /** The amount, rounded once, half up. */
  amount: Nanos;
  /** `organization` if at least one rate is the organization's own. */
  source: PriceSource;
}

/** Returns the charge for a usage; undefined when the price lacks a rate that the usage needs. */
export function charge(price: Price, usage: Usage): ChargedAmount | undefined {
  const lines = chargeLines(price, usage);
  if (!lines) return undefined;
  let millionths = 0n;
  // The result needs a price source even when the usage has no lines.
  let source: PriceSource = price.unit === "token" ? tokenRate(price, "input").source : "default";
  for (const line of lines) {
    millionths += line.millionths;
    if (line.rate.source === "organization") source = line.rate.source;
  }
  return { amount: divideHalfUp(millionths, MILLION), source };
}

const MILLION = 1_000_000n;

/** One line of a charge: a quantity and its price. */
export interface ChargeLine {
  what: "image" | TokenCategory | Feature;
  quantity: number;
  rate: Rate;
  /** Price of `per` units: the amount of `rate` for the request's number of input tokens. */
  unitPrice: Nanos;
  per: 1 | 1_000_000;
  /** Product of quantity and price in millionths of a nano-unit. Only the sum of all lines is rounded. */
  millionths: bigint;
}

/** Returns the lines of the charge for a usage; undefined when the price lacks a rate that the usage needs. */
export function chargeLines(price: Price, usage: Usage): ChargeLine[] | undefined {
  if (usage.unit === "token") return price.unit === "token" ? tokenLines(price, usage) : undefined;
  const rate = price.unit === "image" ? imageRate(price, usage.tier, usage.quality) : undefined;
  return rate && [useLine("image", usage.count, rate)];
}

/** Returns the lines for tokens and uses; undefined when a used feature is billed by use but has no rate. */
function tokenLines(price: TokenPrice, usage: TokenUsage): ChargeLine[] | undefined {
  const lines: ChargeLine[] = [];
  const inputTokens = sumTokens(usage.tokens, INPUT_CATEGORIES);
  for (const what of TOKEN_CATEGORIES) {
    const quantity = usage.tokens[what];
    if (!quantity) continue;
    const rate = tokenRate(price, what);
    const unitPrice = amountAt(rate, inputTokens);
    lines.push({ what, quantity, rate, unitPrice, per: 1_000_000, millionths: BigInt(quantity) * unitPrice });
  }
  for (const [name, count] of entriesOf(usage.uses ?? {})) {
    const rate = price.perUse?.[name];
    if (rate) lines.push(useLine(name, count, rate));
    else if (count > 0 && isBilledFeature(name)) return undefined;
  }
  return lines;
}

function useLine(what: "image" | Feature, quantity: number, rate: Rate): ChargeLine {
  const millionths = BigInt(quantity) * rate.amount * MILLION;
  return { what, quantity, rate, unitPrice: rate.amount, per: 1, millionths };
}
