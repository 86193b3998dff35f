import { type Nanos, parseNanos } from "../lib/money.ts";
import type { Feature } from "./feature.ts";

/** Categories of tokens. Each token counts in exactly one category, so that a bill is a plain sum. */
export type TokenCategory =
  | "input"
  | "cacheRead"
  | "cacheWrite"
  | "cacheWrite1h"
  | "output"
  | "reasoning"
  | "imageInput"
  | "imageOutput";

export const INPUT_CATEGORIES: readonly TokenCategory[] = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "imageInput",
];

export const OUTPUT_CATEGORIES: readonly TokenCategory[] = ["output", "reasoning", "imageOutput"];

export const TOKEN_CATEGORIES: readonly TokenCategory[] = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "output",
  "reasoning",
  "imageInput",
  "imageOutput",
];

/** The public name of each category, for the configuration, options and all displays. */
export const TOKEN_CATEGORY_NAMES: Readonly<Record<TokenCategory, string>> = {
  input: "input",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  cacheWrite1h: "cache_write_1h",
  output: "output",
  reasoning: "reasoning",
  imageInput: "image_input",
  imageOutput: "image_output",
};

/** Number of uses of each feature that a vendor counts in addition to tokens. An absent feature was not used. */
export type UseCounts = Partial<Record<Feature, number>>;

/** Whole numbers of tokens by category. An absent category is zero. */
export type TokenCounts = Partial<Record<TokenCategory, number>>;

export interface TokenUsage {
  unit: "token";
  tokens: TokenCounts;
  /** Uses that are billed in addition to the tokens. */
  uses?: UseCounts;
  vendorCost?: VendorCost;
  /** `estimated` when the gateway had to estimate the input, the output or the uses. */
  source: "upstream" | "estimated";
  /** True when the vendor reported numbers that are impossible or contradict what was delivered. */
  anomalous?: boolean;
}

/** The tokens that a vendor reports for a text response, not trustworthy until the usage policy has checked them. */
export interface UsageReport {
  /** Contains only well-formed counts. */
  tokens: TokenCounts;
  uses?: UseCounts;
  cost?: VendorCost;
  /** True when a well-formed number of input tokens was reported; zero is well-formed. `hasOutput` is for output. */
  hasInput: boolean;
  hasOutput: boolean;
  /** True when a number was impossible: negative, fractional, too large, no number, or a part above its sum. */
  isAnomalous: boolean;
}

/** All known facts about the usage of a text response. They may be incomplete. */
export interface ObservedUsage {
  /** The vendor's last usable report; null when there was none. */
  report: UsageReport | null;
  /** Estimated number of tokens in the delivered text. */
  deliveredTokens: number;
  /**
   * The delivered text, whose tokens can be counted instead of estimated; absent for a reply without text, such as
   * vectors.
   */
  delivered?: CountableText;
  /** Number of uses of each feature whose results were delivered. */
  seenUses: UseCounts;
  /** True when the report covers the complete response, without anything missing or delivered after the report. */
  isReportFinal: boolean;
}

/** A text whose tokens can be counted. */
export interface CountableText {
  /** The whole text, or the beginning of a long text. */
  readonly text: string;
  /** Length of `text` as a share of the whole text, from 0 to 1. */
  readonly share: number;
  /** Number of tokens that are not in the text: tokens of media and tokens of the structure of messages. */
  readonly otherTokens: number;
}

/** Decides which usage of a text response is billed. */
export type UsagePolicy = (observed: ObservedUsage) => TokenUsage;

export interface ImageUsage {
  unit: "image";
  /** Number of delivered images. */
  count: number;
  tier: SizeTier;
  quality: string;
  tokens?: ImageTokens;
  vendorCost?: VendorCost;
}

/** The tokens that the vendor reports for an image call. The caller sees them, but they are never billed. */
export interface ImageTokens {
  input: number;
  output: number;
  total: number;
  /** Tokens of input and output by modality, if the vendor reports them. */
  inputDetails?: ModalityTokens;
  outputDetails?: ModalityTokens;
}

export interface ModalityTokens {
  text: number;
  image: number;
}

export type Usage = TokenUsage | ImageUsage;

export type SizeTier = "1K" | "2K" | "4K";

const MAX_TOKENS = 2 ** 40;

/** Returns a vendor's number if it is a whole number from 0 to 2^40; otherwise null. */
export function saneCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null;
}

/** True when the caller must get other numbers than the vendor's. */
export function isCorrected({ source, anomalous }: TokenUsage): boolean {
  return source === "estimated" || anomalous === true;
}

/** Returns the sum of the given categories, or of all categories. */
export function sumTokens(
  tokens: TokenCounts,
  categories: readonly TokenCategory[] = TOKEN_CATEGORIES,
): number {
  let sum = 0;
  for (const category of categories) sum += tokens[category] ?? 0;
  return sum;
}

/** The cost of a vendor's work as the vendor reports it. It is recorded with a charge but never billed. */
export interface VendorCost {
  amount: Nanos;
  /** ISO 4217 code of the currency. */
  currency: string;
}

/** Maximum cost of one call in US dollars. It replaces a larger reported number. */
const MAX_UNITS = 1_000_000;

/**
 * Reads a cost in US dollars, or in parts of a dollar (`perDollar` parts make one dollar). A vendor's value is not
 * trustworthy: negative values and other types count as no cost, and very large numbers are limited.
 */
export function readVendorCost(value: unknown, perDollar = 1): VendorCost | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  const units = Math.min(value / perDollar, MAX_UNITS);
  return { amount: parseNanos(units.toFixed(9)), currency: "USD" };
}

/** Returns the sum of the costs of several calls; undefined when a cost is unknown or the currencies differ. */
export function sumVendorCosts(costs: readonly (VendorCost | undefined)[]): VendorCost | undefined {
  const [first] = costs;
  if (!first) return undefined;
  let amount = 0n;
  for (const cost of costs) {
    if (cost?.currency !== first.currency) return undefined;
    amount += cost.amount;
  }
  return { amount, currency: first.currency };
}
