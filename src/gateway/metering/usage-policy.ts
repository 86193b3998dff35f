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
  /** Of output that a caller sees, and of all output with reasoning. */
  maxVisible: number;
  maxOutput: number;
  /** Uses of the features that the request names; of others there are none. */
  maxUses: UseCounts;
  /** Whether the cost in the vendor's usage can be believed. */
  reportsCost?: boolean;
}

/** Tokens that vendors add to a prompt: chat template, tool instructions, system prompt of their own. */
export const INPUT_MARGIN = 4_096;
/** Tokens by which a model's reasoning may exceed `max_tokens`, for each choice: some vendors count it apart. */
export const REASONING_MARGIN = 65_536;
/** No request is billed more tokens of input, or of output; the charge then fits the ledger's 64 bits. */
export const MAX_BILLED_TOKENS = 2 ** 32;

/** Uses of a feature by a request that sets no maximum of them, and by one that sets a larger one. */
export const DEFAULT_USES = 50;
export const MAX_USES = 1_000;

/** Of a call whose response has not begun. */
export const NOTHING_DELIVERED: ObservedUsage = {
  report: null,
  deliveredTokens: 0,
  seenUses: {},
  isReportFinal: false,
};

/** The most uses of each feature that a request may be billed. */
export function maxUsesOf(features: readonly FeatureUse[]): UseCounts {
  const uses: UseCounts = {};
  for (const { feature, maxUses = DEFAULT_USES } of features)
    if (feature !== null) uses[feature] = Math.min((uses[feature] ?? 0) + maxUses, MAX_USES);
  return uses;
}

/** The bounds of a request, of which each choice may have `maxTokens` of output, and more of reasoning if its model reasons. */
export function usageBounds(
  {
    estimatedInput,
    inputCeiling,
    choices,
    features = [],
  }: Pick<TextRequest, "estimatedInput" | "inputCeiling" | "choices"> &
    Partial<Pick<TextRequest, "features">>,
  maxTokens: number,
  isReasoning: boolean,
): UsageBounds {
  const maxOutput = (maxTokens + (isReasoning ? REASONING_MARGIN : 0)) * choices;
  return {
    estimatedInput,
    maxInput: Math.min(inputCeiling + INPUT_MARGIN, MAX_BILLED_TOKENS),
    maxVisible: Math.min(maxTokens * choices, MAX_BILLED_TOKENS),
    maxOutput: Math.min(maxOutput, MAX_BILLED_TOKENS),
    maxUses: maxUsesOf(features),
  };
}

/**
 * What is billed for a text response, the same whether it came whole, as a stream, or only in part. A count that is
 * missing, impossible or zero although there was something to count is estimated. A response that goes on after
 * the report, or was cut, costs the larger of reported and estimated. Uses cost the larger of reported and seen.
 * Nothing costs more than the bounds allow.
 */
export function billableUsage(bounds: UsageBounds, observed: ObservedUsage): TokenUsage {
  const { report } = observed;
  const input = inputOf(report, bounds);
  const output = outputOf(report, observed, bounds);
  const { uses, ...used } = usesOf(report, observed, bounds.maxUses);
  const usage: TokenUsage = {
    unit: "token",
    tokens: Object.assign(input.tokens, output.tokens),
    source: input.isEstimated || output.isEstimated || used.isEstimated ? "estimated" : "upstream",
  };
  if (bounds.reportsCost && report?.cost) usage.vendorCost = report.cost;
  if (uses) usage.uses = uses;
  if (report?.isAnomalous || input.isOver || output.isOver || used.isAnomalous) usage.anomalous = true;
  return usage;
}

interface Side {
  tokens: TokenCounts;
  isEstimated: boolean;
  /** More was reported than the request can cause. */
  isOver: boolean;
}

interface Uses {
  /** Absent where there are none. */
  uses?: UseCounts;
  isEstimated: boolean;
  isAnomalous: boolean;
}

const NO_USES: Uses = { isEstimated: false, isAnomalous: false };

/** What was used of what the request allows: no less than was seen, whatever is reported. */
function usesOf(
  report: UsageReport | null,
  { seenUses, isReportFinal }: Pick<ObservedUsage, "seenUses" | "isReportFinal">,
  maxUses: UseCounts,
): Uses {
  const counts = report?.uses ?? {};
  const names = Object.keys({ ...counts, ...seenUses }) as Feature[];
  if (names.length === 0) return NO_USES;
  const uses: UseCounts = {};
  const found: Uses = { isEstimated: false, isAnomalous: false };
  for (const name of names) {
    const { [name]: reported = 0 } = counts;
    const { [name]: seen = 0 } = seenUses;
    const max = maxUses[name] ?? 0;
    const count = Math.max(reported, seen);
    // A count that is missing, or that came before the end, does not contradict what was seen.
    const isLate = seen > reported && (reported === 0 || !isReportFinal);
    if (isLate) found.isEstimated = true;
    if (count > max || (reported !== seen && !isLate)) found.isAnomalous = true;
    if (count > 0 && max > 0) uses[name] = Math.min(count, max);
  }
  return Object.keys(uses).length > 0 ? { ...found, uses } : found;
}

/** No request is without input, so zero is as good as no report. */
export function hasReportedInput(report: UsageReport | null): boolean {
  return report?.hasInput === true && sumTokens(report.tokens, INPUT_CATEGORIES) > 0;
}

function inputOf(report: UsageReport | null, { estimatedInput, maxInput }: UsageBounds): Side {
  if (!hasReportedInput(report)) {
    const tokens = { input: Math.min(estimatedInput, maxInput) };
    return { tokens, isEstimated: true, isOver: false };
  }
  const tokens = pick(report?.tokens ?? {}, INPUT_CATEGORIES);
  const isOver = sumTokens(tokens) > maxInput;
  return { tokens: isOver ? { input: maxInput } : tokens, isEstimated: false, isOver };
}

function outputOf(
  report: UsageReport | null,
  { deliveredTokens, isReportFinal }: Pick<ObservedUsage, "deliveredTokens" | "isReportFinal">,
  bounds: UsageBounds,
): Side {
  const reported = pick(report?.tokens ?? {}, OUTPUT_CATEGORIES);
  const tokens = capOutput(reported, bounds);
  const isOver = sumTokens(tokens) < sumTokens(reported);
  const visible = (tokens.output ?? 0) + (tokens.imageOutput ?? 0);
  const missing = Math.max(0, deliveredTokens - sumTokens(tokens));
  const isComplete = missing === 0 || (isReportFinal && visible > 0);
  if (report?.hasOutput && isComplete) return { tokens, isEstimated: false, isOver };
  tokens.output = (tokens.output ?? 0) + Math.min(missing, bounds.maxVisible - visible);
  return { tokens, isEstimated: true, isOver };
}

/** The same categories within the bounds: the dearest one that is seen goes first, reasoning has what is left. */
function capOutput(tokens: TokenCounts, { maxVisible, maxOutput }: UsageBounds): TokenCounts {
  const capped = { ...tokens };
  let visible = 0;
  for (const category of ["imageOutput", "output"] as const)
    if (capped[category]) visible += capped[category] = Math.min(capped[category], maxVisible - visible);
  if (capped.reasoning) capped.reasoning = Math.min(capped.reasoning, maxOutput - visible);
  return capped;
}

function pick(tokens: TokenCounts, categories: readonly TokenCategory[]): TokenCounts {
  const picked: TokenCounts = {};
  for (const category of categories) {
    const count = tokens[category];
    if (count !== undefined) picked[category] = count;
  }
  return picked;
}
