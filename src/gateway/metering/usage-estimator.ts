import type { CountableText, ObservedUsage, TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import { billableUsage, hasReportedInput, type UsageBounds } from "./usage-policy.ts";

/**
 * Determines the billed usage of one response. While the response runs, it estimates by a rule of thumb; after its end,
 * `refine` replaces the estimates by a tokenizer's counts where the vendor has reported none.
 */
export class UsageEstimator {
  readonly #bounds: UsageBounds;
  #prompt: () => CountableText;
  readonly #countTokens: CountTokens;
  #input: number | null = null;
  /** The tokenizer's count of the output, and the rule's estimate of the same text. */
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

  /**
   * Extracts the prompt's text now: while a stream runs, only that text is held and not the request, which may have
   * megabytes.
   */
  readPrompt(): void {
    const prompt = this.#prompt();
    this.#prompt = () => prompt;
  }

  /**
   * Counts the parts of `usage` that the policy has to estimate. Returns null where there are none, so that such
   * responses do not wait. The promise never rejects.
   */
  refine(usage: () => TokenUsage): Promise<void> | null {
    return this.#refining ?? (usage().source === "estimated" ? (this.#refining = this.#count()) : null);
  }

  /** Reads a whole reply, and a second time where its usage has to be counted here; only then it returns a promise. */
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

/** Counts the tokens of a text. Resolves to null where it cannot; never rejects. */
export type CountTokens = (text: string) => Promise<number | null>;

/** Returns the tokens of a text, at least one; null where they cannot be counted. */
export async function countText(
  { text, share, otherTokens }: CountableText,
  countTokens: CountTokens,
): Promise<number | null> {
  const tokens = await countTokens(text);
  return tokens === null || share === 0 ? null : Math.ceil(tokens / share + otherTokens);
}
