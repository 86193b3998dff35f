/** The effort of reasoning, from none to the most that a model can. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];

/** The reasoning that a caller requests. */
export interface Reasoning {
  effort: Effort | null;
  /** Most tokens of reasoning; null where the caller named none. */
  budgetTokens: number | null;
  /** True when the caller wants to see it, as text or summary; null for the vendor's default. */
  isVisible: boolean | null;
}

/** Tokens that stand for an effort (CLIProxyAPI's published table; Google's compatible endpoint has 1K, 8K and 24K). */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 128_000,
};

/** The budget in tokens; null where the caller left it to the model. */
export function budgetOf({ effort, budgetTokens }: Reasoning): number | null {
  return budgetTokens ?? (effort === null ? null : BUDGETS[effort]);
}

/** The least effort whose budget is at least the given one; null where the caller left it to the model. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort | null {
  if (effort !== null || budgetTokens === null) return effort;
  return EFFORTS.find((each) => budgetTokens <= BUDGETS[each]) ?? "max";
}

/** A caller's word as an effort; null for an unknown one. */
export function readEffort(value: unknown): Effort | null {
  return EFFORTS.find((each) => each === value) ?? null;
}
