import type { TextRequest } from "../../dialects/dialect.ts";
import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type ObservedUsage,
  type TokenCategory,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
} from "../../domain/usage.ts";

/** What a request can make a vendor count. */
export interface UsageBounds {
  /** Local estimate of the input. */
  estimatedInput: number;
  maxInput: number;
  maxOutput: number;
}

/** Tokens that vendors add to a prompt: chat template, tool instructions, system prompt of their own. */
export const INPUT_MARGIN = 4_096;
/** Tokens by which reasoning may exceed `max_tokens`, for each choice: some vendors count it apart. */
export const REASONING_MARGIN = 65_536;
/** No request is billed more tokens of input, or of output; the charge then fits the ledger's 64 bits. */
export const MAX_BILLED_TOKENS = 2 ** 32;

/** The bounds of a request, of which each choice may have `maxTokens` of output. */
export function usageBounds(
  { estimatedInput, inputCeiling, choices }: Pick<TextRequest, "estimatedInput" | "inputCeiling" | "choices">,
  maxTokens: number,
): UsageBounds {
  const maxOutput = (maxTokens + REASONING_MARGIN) * choices;
  return {
    estimatedInput,
    maxInput: Math.min(inputCeiling + INPUT_MARGIN, MAX_BILLED_TOKENS),
    maxOutput: Math.min(maxOutput, MAX_BILLED_TOKENS),
  };
}

/**
 * What is billed for a text response, the same whether it came whole, as a stream, or only in part. A count that is
 * missing, impossible or zero although there was something to count is estimated. A response that goes on after
 * the report, or was cut, costs the larger of reported and estimated. Nothing costs more than the bounds allow.
 */
export function billableUsage(bounds: UsageBounds, { report, ...delivered }: ObservedUsage): TokenUsage {
  const input = inputOf(report, bounds.estimatedInput);
  const output = outputOf(report, delivered);
  const isOverInput = sumTokens(input.tokens) > bounds.maxInput;
  const isOverOutput = sumTokens(output.tokens) > bounds.maxOutput;
  const usage: TokenUsage = {
    unit: "token",
    tokens: {
      ...(isOverInput ? { input: bounds.maxInput } : input.tokens),
      ...(isOverOutput ? { output: bounds.maxOutput } : output.tokens),
    },
    source: input.isEstimated || output.isEstimated ? "estimated" : "upstream",
  };
  if (report?.isAnomalous || isOverInput || isOverOutput) usage.anomalous = true;
  return usage;
}

interface Side {
  tokens: TokenCounts;
  isEstimated: boolean;
}

/** No request is without input, so zero is as good as no report. */
function inputOf(report: UsageReport | null, estimate: number): Side {
  const tokens = pick(report?.tokens ?? {}, INPUT_CATEGORIES);
  if (report?.hasInput && sumTokens(tokens) > 0) return { tokens, isEstimated: false };
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
  return { tokens: { ...tokens, output: (tokens.output ?? 0) + missing }, isEstimated: true };
}

function pick(tokens: TokenCounts, categories: readonly TokenCategory[]): TokenCounts {
  const picked: TokenCounts = {};
  for (const category of categories) {
    const count = tokens[category];
    if (count !== undefined) picked[category] = count;
  }
  return picked;
}
