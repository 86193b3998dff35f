/**
 * What was consumed, in disjoint categories: a token counts in exactly one of them, so a bill is a plain sum.
 */
export type TokenCategory =
  | "input"
  | "cacheRead"
  | "cacheWrite"
  | "cacheWrite1h"
  | "output"
  | "reasoning"
  | "imageInput"
  | "imageOutput";

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

/** What people call a category: in the configuration, in options, and wherever it is shown. */
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

/** Whole tokens; an absent category is zero. */
export type TokenCounts = Partial<Record<TokenCategory, number>>;

export interface TokenUsage {
  unit: "token";
  tokens: TokenCounts;
  /** `upstream` when the vendor counted, `estimated` when the gateway had to. */
  source: "upstream" | "estimated";
  /** True when the vendor's numbers were impossible and had to be clamped. */
  anomalous?: boolean;
}

export interface ImageUsage {
  unit: "image";
  /** Delivered images. */
  count: number;
  tier: SizeTier;
  quality: string;
  /** The vendor's own token report; told to the caller, never billed. */
  tokens?: { input: number; output: number; total: number };
}

export type Usage = TokenUsage | ImageUsage;

export type SizeTier = "1K" | "2K" | "4K";

const MAX_TOKENS = 2 ** 40;

/** Makes a vendor's number a sane count: a whole number from 0 to 2^40. `null` when it had to be changed. */
export function saneCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null;
}
