/** Efforts of reasoning, from none to a model's maximum. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];

/** The reasoning that a caller requests. */
export interface Reasoning {
  effort: Effort | null;
  /** Maximum number of reasoning tokens. Null when the caller set no maximum. */
  budgetTokens: number | null;
  /** True to show the reasoning as text or summary, false to hide it. Null for the vendor's default. */
  isVisible: boolean | null;
}

/**
 * Number of reasoning tokens for each effort. Source: the published table of CLIProxyAPI. Google's compatible endpoint
 * uses other numbers (1K, 8K and 24K).
 */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 128_000,
};

/** Returns the budget in tokens. Null means that the model decides. */
export function budgetOf({ effort, budgetTokens }: Reasoning): number | null {
  return budgetTokens ?? (effort === null ? null : BUDGETS[effort]);
}

/** Returns the requested effort, or the lowest whose budget covers the requested budget. Null: the model decides. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort | null {
  if (effort !== null || budgetTokens === null) return effort;
  return EFFORTS.find((each) => budgetTokens <= BUDGETS[each]) ?? "max";
}

/** Returns the effort with this name, or null for an unknown name. */
export function readEffort(value: unknown): Effort | null {
  return EFFORTS.find((each) => each === value) ?? null;
}
