import { budgetOf, effortOf, type Effort, type Reasoning } from "../../conversation/reasoning.ts";
import type { VendorTerms } from "../../dialect.ts";

interface ThinkingConfig {
  includeThoughts?: boolean;
  thinkingLevel?: string;
  thinkingBudget?: number;
}

/** The least is the one that every model has; some have had a lesser one (Gemini API, thinking). */
const LEVELS: Readonly<Record<Effort, string>> = {
  none: "LOW",
  minimal: "LOW",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};

/** Budgets that models take; the larger models cannot do without any (Gemini API, thinking). */
const LARGE_MODEL = { min: 128, max: 32_768 };
const SMALL_MODEL = { min: 0, max: 24_576 };
/** Between none and this, the smallest models refuse. */
const MIN_BUDGET = 512;

/**
 * How a model of this vendor is told to reason: by a level since its third generation, by a budget before; both
 * together are refused. Null where the caller says nothing, undefined where the model cannot be told.
 */
export function writeThinking(
  reasoning: Reasoning | null,
  { model, upstreamModel }: VendorTerms,
): ThinkingConfig | null | undefined {
  if (!reasoning) return null;
  const { isVisible } = reasoning;
  const isLarge = /-pro\b/.test(upstreamModel);
  const effort = effortOf(reasoning);
  // Who names a budget expects to see what it is spent on; this vendor hides it unless it is told.
  const isShown = isVisible ?? (reasoning.budgetTokens === null ? null : true);
  const visible = isShown === null ? {} : { includeThoughts: isShown };
  if (model.reasoning === "level") {
    return nonEmpty({ ...visible, ...(effort !== null && { thinkingLevel: LEVELS[effort] }) });
  }
  if (model.reasoning === "budget") {
    const budget = budgetOf(reasoning);
    return nonEmpty({ ...visible, ...(budget !== null && { thinkingBudget: fit(budget, isLarge) }) });
  }
  return effort === null || effort === "none" ? null : undefined;
}

function fit(budget: number, isLarge: boolean): number {
  const { min, max } = isLarge ? LARGE_MODEL : SMALL_MODEL;
  const floor = budget === 0 ? min : Math.max(min, MIN_BUDGET);
  return Math.min(Math.max(budget, floor), max);
}

function nonEmpty(config: ThinkingConfig): ThinkingConfig | null {
  return Object.keys(config).length === 0 ? null : config;
}
