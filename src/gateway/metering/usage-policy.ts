import {
  type CountableText,
  type ObservedUsage,
  type TokenUsage,
  type UsagePolicy,
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type TokenCategory,
  type TokenCounts,
  type UsageReport,
  type UseCounts,
} from "../../domain/usage.ts";
import type { TextRequest } from "../../dialects/dialect.ts";
import type { FeatureUse } from "../../domain/feature.ts";
import { entriesOf, hasMembers } from "../../lib/json.ts";

/** Facts about a request for its billing. Most are upper bounds of the usage that the request can cause at a vendor. */
export interface UsageBounds {
  /** The gateway's own estimate of the input tokens. */
  estimatedInput: number;
  maxInput: number;
  /** The bound of the visible output. `maxOutput` also includes reasoning. */
  maxVisible: number;
  maxOutput: number;
  /** Maximum uses of each feature that the request names. The request cannot use other features. */
  maxUses: UseCounts;
  /** True when the cost in the vendor's usage report is reliable. */
  reportsCost?: boolean;
}

/** Tokens that vendors add to a prompt: chat template, tool instructions, the vendor's own system prompt. */
export const INPUT_MARGIN = 4_096;
/** Tokens of reasoning that a choice may have beyond `max_tokens`, because some vendors count reasoning separately. */
export const REASONING_MARGIN = 65_536;
/** Maximum of billed input or output tokens of a request. With this maximum, the charge fits the ledger's 64 bits. */
export const MAX_BILLED_TOKENS = 2 ** 32;

/** Maximum uses of a feature when the request sets no maximum. */
export const DEFAULT_USES = 50;
/** Maximum uses of a feature in a request. */
export const MAX_USES = 1_000;

/** The usage of a call whose response has not begun. */
export const NOTHING_DELIVERED: ObservedUsage = {
  report: null,
  deliveredTokens: 0,
  seenUses: {},
  isReportFinal: false,
};

/** Returns the maximum of billed uses of each feature. */
export function maxUsesOf(features: readonly FeatureUse[]): UseCounts {
  const uses: UseCounts = {};
  for (const { feature, maxUses = DEFAULT_USES } of features)
    if (feature !== null) uses[feature] = Math.min((uses[feature] ?? 0) + maxUses, MAX_USES);
  return uses;
}

/** Returns the bounds of a request. Each choice may have `maxTokens` of output, plus a margin if the model reasons. */
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
 * Returns the billed usage of a text response: a whole reply, a stream or a part of a stream. A count is estimated when
 * it is missing, or zero although there was something to count. If the response was cut or went on after the vendor's
 * report, the larger of the reported and the estimated output is billed. For uses of features, the larger of the
 * reported and the observed count is billed. No count exceeds the bounds.
 */
export function billableUsage(bounds: UsageBounds, observed: ObservedUsage): TokenUsage {
  const { report } = observed;
  const input = inputOf(report, bounds);
  const output = outputOf(report, observed, bounds);
  const used = usesOf(report, observed, bounds.maxUses);
  const usage: TokenUsage = {
    unit: "token",
    tokens: Object.assign(input.tokens, output.tokens),
    source: input.isEstimated || output.isEstimated || used.isEstimated ? "estimated" : "upstream",
  };
  if (bounds.reportsCost && report?.cost) usage.vendorCost = report.cost;
  if (used.uses) usage.uses = used.uses;
  if (report?.isAnomalous || input.isOver || output.isOver || used.isAnomalous) usage.anomalous = true;
  return usage;
}

interface Side {
  tokens: TokenCounts;
  isEstimated: boolean;
  /** True when the vendor reported more than the request can cause. */
  isOver: boolean;
}

interface Uses {
  /** Absent when no feature was used. */
  uses?: UseCounts;
  isEstimated: boolean;
  isAnomalous: boolean;
}

const NO_USES: Uses = { isEstimated: false, isAnomalous: false };
const NO_COUNTS: UseCounts = {};

/** Returns the billed uses: at least the observed uses, even when the vendor reports fewer, and at most the bounds. */
function usesOf(
  report: UsageReport | null,
  { seenUses, isReportFinal }: Pick<ObservedUsage, "seenUses" | "isReportFinal">,
  maxUses: UseCounts,
): Uses {
  const counts = report?.uses ?? NO_COUNTS;
  if (!hasMembers(counts) && !hasMembers(seenUses)) return NO_USES;
  const uses: UseCounts = {};
  const found: Uses = { isEstimated: false, isAnomalous: false };
  for (const [name] of entriesOf({ ...counts, ...seenUses })) {
    const { [name]: reported = 0 } = counts;
    const { [name]: seen = 0 } = seenUses;
    const max = maxUses[name] ?? 0;
    const count = Math.max(reported, seen);
    // Seeing more uses than reported is no anomaly if the report has no count or came before the end.
    const isLate = seen > reported && (reported === 0 || !isReportFinal);
    if (isLate) found.isEstimated = true;
    if (count > max || (reported !== seen && !isLate)) found.isAnomalous = true;
    if (count > 0 && max > 0) uses[name] = Math.min(count, max);
  }
  return hasMembers(uses) ? { ...found, uses } : found;
}

/** True when the report has input tokens. Zero counts as no report, because every request has input. */
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
  const tokens = pick(report?.tokens ?? {}, OUTPUT_CATEGORIES);
  const reported = sumTokens(tokens, OUTPUT_CATEGORIES);
  capOutput(tokens, bounds);
  const billed = sumTokens(tokens, OUTPUT_CATEGORIES);
  const isOver = billed < reported;
  const visible = (tokens.output ?? 0) + (tokens.imageOutput ?? 0);
  const missing = Math.max(0, deliveredTokens - billed);
  const isComplete = missing === 0 || (isReportFinal && visible > 0);
  if (report?.hasOutput && isComplete) return { tokens, isEstimated: false, isOver };
  tokens.output = (tokens.output ?? 0) + Math.min(missing, bounds.maxVisible - visible);
  return { tokens, isEstimated: true, isOver };
}

/** Reduces the counts in place to the bounds. Fills the most expensive visible category first, and reasoning last. */
function capOutput(tokens: TokenCounts, { maxVisible, maxOutput }: UsageBounds): void {
  let visible = 0;
  for (const category of VISIBLE_CATEGORIES)
    if (tokens[category]) visible += tokens[category] = Math.min(tokens[category], maxVisible - visible);
  if (tokens.reasoning) tokens.reasoning = Math.min(tokens.reasoning, maxOutput - visible);
}

const VISIBLE_CATEGORIES = ["imageOutput", "output"] as const;

function pick(tokens: TokenCounts, categories: readonly TokenCategory[]): TokenCounts {
  const picked: TokenCounts = {};
  for (const category of categories) {
    const count = tokens[category];
    if (count !== undefined) picked[category] = count;
  }
  return picked;
}

/**
 * Determines the billed usage of one response. While the response runs, a simple rule estimates the usage. After the
 * end, `refine` counts with a tokenizer what the vendor did not report.
 */
export class UsageEstimator {
  readonly #bounds: UsageBounds;
  #prompt: () => CountableText;
  readonly #countTokens: CountTokens;
  #input: number | null = null;
  /** The tokenizer's count of the output, and the simple rule's estimate of this text. Null before the count. */
  #output: { tokens: number; estimated: number } | null = null;
  #last: ObservedUsage | null = null;
  #refining: Promise<void> | null = null;

  constructor(bounds: UsageBounds, prompt: () => CountableText, countTokens: CountTokens) {
    this.#bounds = bounds;
    this.#prompt = prompt;
    this.#countTokens = countTokens;
  }

  readonly policy: UsagePolicy = (observed) => {
    this.#last = observed;
    if (this.#input === null && !this.#output) return billableUsage(this.#bounds, observed);
    const { deliveredTokens } = observed;
    const estimatedInput = this.#input ?? this.#bounds.estimatedInput;
    const delivered = this.#output
      ? this.#output.tokens + Math.max(0, deliveredTokens - this.#output.estimated)
      : deliveredTokens;
    return billableUsage({ ...this.#bounds, estimatedInput }, { ...observed, deliveredTokens: delivered });
  };

  /** Extracts the text of the prompt now, so that a stream need not keep the whole request in memory. */
  readPrompt(): void {
    const prompt = this.#prompt();
    this.#prompt = () => prompt;
  }

  /**
   * Counts with the tokenizer the parts of `usage` that are estimated. Returns null when no part is estimated, so that
   * the response does not wait. The promise never rejects.
   */
  refine(usage: () => TokenUsage): Promise<void> | null {
    return this.#refining ?? (usage().source === "estimated" ? (this.#refining = this.#count()) : null);
  }

  /** Reads a whole reply. If the tokenizer has to count, returns a promise and reads the reply a second time. */
  refined<Read extends { usage: TokenUsage }>(read: () => Read): Read | Promise<Read> {
    const first = read();
    const refining = this.refine(() => first.usage);
    return refining ? refining.then(read) : first;
  }

  async #count(): Promise<void> {
    const { report = null, deliveredTokens = 0, delivered } = this.#last ?? {};
    const [input, output] = await Promise.all([
      hasReportedInput(report) ? null : countText(this.#prompt(), this.#countTokens),
      delivered ? countText(delivered, this.#countTokens) : null,
    ]);
    this.#input = input;
    if (output !== null) this.#output = { tokens: output, estimated: deliveredTokens };
  }
}

/** Counts the tokens of a text. Resolves to null when counting fails; never rejects. */
export type CountTokens = (text: string) => Promise<number | null>;

/** Returns the number of tokens of a text, including its `otherTokens`; null when counting fails or `share` is 0. */
export async function countText(
  { text, share, otherTokens }: CountableText,
  countTokens: CountTokens,
): Promise<number | null> {
  const tokens = await countTokens(text);
  return tokens === null || share === 0 ? null : Math.ceil(tokens / share + otherTokens);
}
