import type { Feature } from "../domain/feature.ts";
import type {
  CountableText,
  ObservedUsage,
  TokenUsage,
  UsagePolicy,
  UsageReport,
  UseCounts,
} from "../domain/usage.ts";
import { eighthsOf, tokenEighths, wholeTokens } from "./input-size.ts";

/**
 * Measures the delivered content of a stream and compares it with the vendor's usage to find the billed usage.
 * Forwarded and translated streams share this class, so that a stream costs the same in both cases, even if it is cut.
 */
export class StreamMeter {
  readonly #policy: UsagePolicy;
  #report: UsageReport | null = null;
  /** Estimated size of the content before the last usage report, in eighths of a token. */
  #reportedEighths = 0;
  /** Content that arrived in pieces. */
  readonly pieces = new SizedText();
  /**
   * Content in whole items; null for a protocol without such items. The larger of `pieces` and `whole` counts as
   * delivered.
   */
  whole: SizedText | null = null;
  /** Indexes of choices that have begun and not ended. `#ended` has the indexes of ended choices. */
  readonly #running = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  /** True after content has arrived or a choice has ended. Failover depends on `TextStream.hasContent` instead. */
  hasContent = false;

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  /** The content that was delivered so far. */
  get delivered(): SizedText {
    return this.whole && this.whole.eighths > this.pieces.eighths ? this.whole : this.pieces;
  }

  /** Records a piece of a choice. `isLast` is true when the piece ends the choice. An end counts as content. */
  noteChoice(index: unknown, isLast: boolean): void {
    if (isLast) {
      this.#ended.add(index);
      this.#running.delete(index);
      this.hasContent = true;
    } else if (!this.#ended.has(index)) this.#running.add(index);
  }

  /** True when at least one choice has begun and all choices have ended. */
  get haveChoicesEnded(): boolean {
    return this.#ended.size > 0 && this.#running.size === 0;
  }

  /** Stores the vendor's usage and returns true. Returns false for null, and for a later report without counts. */
  report(report: UsageReport | null): boolean {
    if (!report || (this.#report && !report.hasInput && !report.hasOutput)) return false;
    this.#report = report;
    this.#reportedEighths = this.delivered.eighths;
    return true;
  }

  /** Returns the billed usage so far. `isComplete` is true when the whole reply has arrived. */
  usage(isComplete: boolean): TokenUsage {
    const { delivered } = this;
    const isFinal = isComplete && this.#reportedEighths === delivered.eighths;
    return this.#policy(observe(this.#report, delivered, isFinal));
  }
}

/** Maximum number of bytes of a reply that are stored for a tokenizer. */
const MAX_KEPT_BYTES = 32 * 1024;
const FIRST_BYTES = 256;
const NOTHING = new Uint8Array(0);
const NO_USES: UseCounts = {};
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Combines the vendor's usage with the delivered content, for the usage policy. */
export function observe(
  report: UsageReport | null,
  delivered: SizedText | WholeText,
  isReportFinal: boolean,
): ObservedUsage {
  const { tokens: deliveredTokens, uses: seenUses } = delivered;
  return { report, deliveredTokens, delivered, seenUses, isReportFinal };
}

/**
 * Estimates the size of text that arrives in pieces. Stores the beginning of the text, which a tokenizer counts at the
 * end if the vendor's usage is incomplete.
 */
export class SizedText implements CountableText {
  #kept: Uint8Array<ArrayBuffer> = NOTHING;
  #keptBytes = 0;
  #keptEighths = 0;
  #textEighths = 0;
  #otherEighths = 0;
  #isFull: boolean;
  #uses = NO_USES;

  /** With `isKept` false, the text is only measured and not stored. */
  constructor({ isKept = true } = {}) {
    this.#isFull = !isKept;
  }

  /** Estimated size of all content so far, in eighths of a token. */
  get eighths(): number {
    return this.#textEighths + this.#otherEighths;
  }

  get tokens(): number {
    return wholeTokens(this.eighths);
  }

  get text(): string {
    return decoder.decode(this.#kept.subarray(0, this.#keptBytes));
  }

  get share(): number {
    return this.#textEighths === 0 ? 1 : this.#keptEighths / this.#textEighths;
  }

  get otherTokens(): number {
    return this.#otherEighths / 8;
  }

  /** Number of delivered results of each feature. */
  get uses(): UseCounts {
    return this.#uses;
  }

  add(text: string): void {
    if (text === "") return;
    this.#textEighths += tokenEighths(text);
    if (this.#isFull) return;
    this.#makeSpace(3 * text.length);
    const { read, written } = encoder.encodeInto(text, this.#kept.subarray(this.#keptBytes));
    this.#keptBytes += written;
    this.#keptEighths += eighthsOf(written, read);
    this.#isFull = read < text.length;
  }

  /** Adds UTF-8 text at the positions `from` to `to` (exclusive). `units` is its number of UTF-16 code units. */
  addUtf8(bytes: Uint8Array, from: number, to: number, units: number): void {
    const eighths = eighthsOf(to - from, units);
    this.#textEighths += eighths;
    if (this.#isFull) return;
    this.#isFull = this.#keptBytes + to - from > MAX_KEPT_BYTES;
    if (this.#isFull) return;
    this.#makeSpace(to - from);
    // The bytes are copied one by one, because a piece has only a few and a view would take longer.
    for (let at = from; at < to; at += 1) this.#kept[this.#keptBytes++] = bytes[at] ?? 0;
    this.#keptEighths += eighths;
  }

  /** Adds tokens of content that is not text. */
  addTokens(tokens: number): void {
    this.#otherEighths += 8 * tokens;
  }

  /** Adds one use of a feature whose result was delivered. */
  addUse(feature: Feature): void {
    this.#uses = { ...this.#uses, [feature]: (this.#uses[feature] ?? 0) + 1 };
  }

  #makeSpace(bytes: number): void {
    const needed = Math.min(this.#keptBytes + bytes, MAX_KEPT_BYTES);
    if (this.#kept.length >= needed) return;
    const doubled = Math.max(needed, 2 * this.#kept.length, FIRST_BYTES);
    const larger = new Uint8Array(Math.min(doubled, MAX_KEPT_BYTES));
    larger.set(this.#kept.subarray(0, this.#keptBytes));
    this.#kept = larger;
  }
}

/**
 * The text of a whole reply, which `add` supplies piece by piece. Its size is computed immediately. Its text is
 * collected only for a tokenizer, because nearly all vendors report usage.
 */
export class WholeText implements CountableText {
  readonly tokens: number;
  readonly uses: UseCounts;
  readonly #add: (sized: SizedText) => void;
  #kept: SizedText | null = null;

  constructor(add: (sized: SizedText) => void) {
    const size = new SizedText({ isKept: false });
    add(size);
    this.tokens = size.tokens;
    this.uses = size.uses;
    this.#add = add;
  }

  get text(): string {
    return this.#keep().text;
  }

  get share(): number {
    return this.#keep().share;
  }

  get otherTokens(): number {
    return this.#keep().otherTokens;
  }

  #keep(): SizedText {
    if (!this.#kept) this.#add((this.#kept = new SizedText()));
    return this.#kept;
  }
}
