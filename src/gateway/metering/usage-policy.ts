import type { TextRequest } from "../../dialects/dialect.ts";
import type { Feature, FeatureUse } from "../../domain/feature.ts";
import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type ObservedUsage,
  type TokenCategory,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
  type UseCounts,
} from "../../domain/usage.ts";

/** What a request can make a vendor count. */
export interface UsageBounds {
  /** Local estimate of the input. */
  estimatedInput: number;
  maxInput: number;
  maxOutput: number;
  /** Uses of the features that the request names; of others there are none. */
  maxUses: UseCounts;
  /** Whether the cost in the vendor's usage can be believed. */
  reportsCost?: boolean;
}

/** Tokens that vendors add to a prompt: chat template, tool instructions, system prompt of their own. */
export const INPUT_MARGIN = 4_096;
/** Tokens by which reasoning may exceed `max_tokens`, for each choice: some vendors count it apart. */
export const REASONING_MARGIN = 65_536;
/** No request is billed more tokens of input, or of output; the charge then fits the ledger's 64 bits. */
export const MAX_BILLED_TOKENS = 2 ** 32;

/** Uses of a feature by a request that sets no maximum of them, and by one that sets a larger one. */
export const DEFAULT_USES = 50;
export const MAX_USES = 1_000;

/** Of a call whose response has not begun. */
export const NOTHING_DELIVERED: ObservedUsage = { report: null, deliveredTokens: 0, isReportFinal: false };

/** The most uses of each feature that a request may be billed. */
export function maxUsesOf(features: readonly FeatureUse[]): UseCounts {
  const uses: UseCounts = {};
  for (const { feature, maxUses = DEFAULT_USES } of features)
    if (feature !== null) uses[feature] = Math.min((uses[feature] ?? 0) + maxUses, MAX_USES);
  return uses;
}

/** The bounds of a request, of which each choice may have `maxTokens` of output. */
export function usageBounds(
  {
    estimatedInput,
    inputCeiling,
    choices,
    features = [],
  }: Pick<TextRequest, "estimatedInput" | "inputCeiling" | "choices"> &
    Partial<Pick<TextRequest, "features">>,
  maxTokens: number,
): UsageBounds {
  const maxOutput = (maxTokens + REASONING_MARGIN) * choices;
  return {
    estimatedInput,
    maxInput: Math.min(inputCeiling + INPUT_MARGIN, MAX_BILLED_TOKENS),
    maxOutput: Math.min(maxOutput, MAX_BILLED_TOKENS),
    maxUses: maxUsesOf(features),
  };
}

/**
 * What is billed for a text response, the same whether it came whole, as a stream, or only in part. A count that is
 * missing, impossible or zero although there was something to count is estimated. A response that goes on after
 * the report, or was cut, costs the larger of reported and estimated. Nothing costs more than the bounds allow.
 */
export function billableUsage(bounds: UsageBounds, observed: ObservedUsage): TokenUsage {
  const { report } = observed;
  const input = inputOf(report, bounds.estimatedInput);
  const output = outputOf(report, observed);
  const { uses, isOver: isOverUses } = usesOf(report, bounds.maxUses);
  const isOverInput = sumTokens(input.tokens, INPUT_CATEGORIES) > bounds.maxInput;
  const isOverOutput = sumTokens(output.tokens, OUTPUT_CATEGORIES) > bounds.maxOutput;
  const tokens = isOverInput ? { input: bounds.maxInput } : input.tokens;
  const usage: TokenUsage = {
    unit: "token",
    tokens: Object.assign(tokens, isOverOutput ? { output: bounds.maxOutput } : output.tokens),
    source: input.isEstimated || output.isEstimated ? "estimated" : "upstream",
  };
  if (bounds.reportsCost && report?.cost) usage.vendorCost = report.cost;
  if (uses) usage.uses = uses;
  if (report?.isAnomalous || isOverInput || isOverOutput || isOverUses) usage.anomalous = true;
  return usage;
}

interface Side {
  tokens: TokenCounts;
  isEstimated: boolean;
}

interface Uses {
  /** Absent where there are none. */
  uses?: UseCounts;
  isOver: boolean;
}

const NO_USES: Uses = { isOver: false };

/** What was used of what the request allows. */
function usesOf(report: UsageReport | null, maxUses: UseCounts): Uses {
  if (!report?.uses) return NO_USES;
  const uses: UseCounts = {};
  let isOver = false;
  for (const [name, count] of Object.entries(report.uses)) {
    const max = maxUses[name as Feature] ?? 0;
    if (count > max) isOver = true;
    if (count > 0 && max > 0) uses[name as Feature] = Math.min(count, max);
  }
  return Object.keys(uses).length > 0 ? { uses, isOver } : { isOver };
}

/** No request is without input, so zero is as good as no report. */
export function hasReportedInput(report: UsageReport | null): boolean {
  return report?.hasInput === true && sumTokens(report.tokens, INPUT_CATEGORIES) > 0;
}

function inputOf(report: UsageReport | null, estimate: number): Side {
  const tokens = pick(report?.tokens ?? {}, INPUT_CATEGORIES);
  if (hasReportedInput(report)) return { tokens, isEstimated: false };
  return { tokens: { input: estimate }, isEstimated: true };
}

function outputOf(
  report: UsageReport | null,
  { deliveredTokens, isReportFinal }: Pick<ObservedUsage, "deliveredTokens" | "isReportFinal">,
): Side {
  const tokens = pick(report?.tokens ?? {}, OUTPUT_CATEGORIES);
  const visible = (tokens.output ?? 0) + (tokens.imageOutput ?? 0);
  const missing = Math.max(0, deliveredTokens - sumTokens(tokens));
  const isComplete = missing === 0 || (isReportFinal && visible > 0);
  if (report?.hasOutput && isComplete) return { tokens, isEstimated: false };
  tokens.output = (tokens.output ?? 0) + missing;
  return { tokens, isEstimated: true };
}

function pick(tokens: TokenCounts, categories: readonly TokenCategory[]): TokenCounts {
  const picked: TokenCounts = {};
  for (const category of categories) {
    const count = tokens[category];
    if (count !== undefined) picked[category] = count;
  }
  return picked;
}
