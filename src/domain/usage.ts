import { type Nanos, parseNanos } from "../lib/money.ts";
import type { Feature } from "./feature.ts";

/** Categories of consumed tokens. They are disjoint: a token counts in exactly one, so a bill is a plain sum. */
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

/** The public name of a category: in the configuration, in options, and wherever it is shown. */
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

/** Uses of features that a vendor counts beside tokens; an absent feature was not used. */
export type UseCounts = Partial<Record<Feature, number>>;

/** Whole tokens; an absent category is zero. */
export type TokenCounts = Partial<Record<TokenCategory, number>>;

export interface TokenUsage {
  unit: "token";
  tokens: TokenCounts;
  /** Uses that are billed beside the tokens. */
  uses?: UseCounts;
  vendorCost?: VendorCost;
  /** `estimated` when the gateway had to estimate the input, the output or the uses. */
  source: "upstream" | "estimated";
  /** True when the vendor reported impossible numbers, which were clamped or replaced. */
  anomalous?: boolean;
}

/** The tokens that a vendor reported for a text response: hostile input until the usage policy has judged it. */
export interface UsageReport {
  /** Well-formed counts only. */
  tokens: TokenCounts;
  uses?: UseCounts;
  cost?: VendorCost;
  /** True when there was a well-formed number of input tokens, or of output tokens; zero is one. */
  hasInput: boolean;
  hasOutput: boolean;
  /** True when a number was impossible: negative, fractional, not a number, too large, or a part above its sum. */
  isAnomalous: boolean;
}

/** The known facts about the usage of a text response, complete or not. */
export interface ObservedUsage {
  /** The last usable report of the vendor. */
  report: UsageReport | null;
  /** Estimated tokens of the delivered text. */
  deliveredTokens: number;
  /** The delivered text, for a better estimate; absent when there was none. */
  delivered?: CountableText;
  /** Uses of features with delivered results. */
  seenUses: UseCounts;
  /** True when the report covers the complete response: nothing was delivered after it and nothing is missing. */
  isReportFinal: boolean;
}

/** Text that a tokenizer can count. */
export interface CountableText {
  /** The whole text, or the beginning of a long one. */
  readonly text: string;
  /** The share of the whole that `text` is, from 0 to 1. */
  readonly share: number;
  /** Tokens besides those of the text: of media and of the form of messages. */
  readonly otherTokens: number;
}

/** Decides the billed usage of a text response. */
export type UsagePolicy = (observed: ObservedUsage) => TokenUsage;

export interface ImageUsage {
  unit: "image";
  /** Delivered images. */
  count: number;
  tier: SizeTier;
  quality: string;
  tokens?: ImageTokens;
  vendorCost?: VendorCost;
}

/** The vendor's own token report of an image call; shown to the caller, never billed. */
export interface ImageTokens {
  input: number;
  output: number;
  total: number;
  /** The parts of input and output, if the vendor reports them. */
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

/** Returns a vendor's number when it is a whole number from 0 to 2^40, else null. */
export function saneCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null;
}

/** True when the caller must get other numbers than the vendor reported. */
export function isCorrected({ source, anomalous }: TokenUsage): boolean {
  return source === "estimated" || anomalous === true;
}

/** Returns the sum over some categories, or over all. */
export function sumTokens(
  tokens: TokenCounts,
  categories: readonly TokenCategory[] = TOKEN_CATEGORIES,
): number {
  let sum = 0;
  for (const category of categories) sum += tokens[category] ?? 0;
  return sum;
}

/** A vendor's own figure for what its work cost the operator. It is recorded beside a charge and never billed. */
export interface VendorCost {
  amount: Nanos;
  /** ISO 4217. */
  currency: string;
}

/** The largest cost of a call; a larger number is capped to it. */
const MAX_UNITS = 1_000_000;

/**
 * Reads a cost that a vendor reports in US dollars, or in parts of which `perDollar` make one. The input is hostile:
 * anything but a number from zero on is no cost, and a very large one is capped.
 */
export function readVendorCost(value: unknown, perDollar = 1): VendorCost | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  const units = Math.min(value / perDollar, MAX_UNITS);
  return { amount: parseNanos(units.toFixed(9)), currency: "USD" };
}

/** Returns the sum of several calls' costs; undefined unless all are known and in one currency. */
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
