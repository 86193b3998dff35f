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
 * Counts what a stream delivers beside what its vendor reports, and bills the one by the other. Forwarded and
 * translated streams share it, so that a stream costs the same whichever way it takes and wherever it is cut.
 */
export class StreamMeter {
  readonly #policy: UsagePolicy;
  #report: UsageReport | null = null;
  /** Estimated size of the content up to the last report. */
  #reportedEighths = 0;
  /** Content that came piece by piece. */
  readonly pieces = new SizedText();
  /** The same content where a protocol repeats it whole; the larger of the two is billed. */
  whole: SizedText | null = null;
  /** Choices by their index: those that have begun and not ended, and those that have ended. */
  readonly #running = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  /** True once the caller would see content: from then on no other upstream can take over. */
  hasContent = false;

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  /** The content so far. */
  get delivered(): SizedText {
    return this.whole && this.whole.eighths > this.pieces.eighths ? this.whole : this.pieces;
  }

  /** Notes that a piece of a choice came; `isLast` when the piece ends it, which is content by itself. */
  noteChoice(index: unknown, isLast: boolean): void {
    if (isLast) {
      this.#ended.add(index);
      this.#running.delete(index);
      this.hasContent = true;
    } else if (!this.#ended.has(index)) this.#running.add(index);
  }

  /** True once there was a choice and each one that began has ended. */
  get haveChoicesEnded(): boolean {
    return this.#ended.size > 0 && this.#running.size === 0;
  }

  /** Keeps a report, unless it has nothing usable and an earlier one has. Returns true where it is kept. */
  report(report: UsageReport | null): boolean {
    if (!report || (this.#report && !report.hasInput && !report.hasOutput)) return false;
    this.#report = report;
    this.#reportedEighths = this.delivered.eighths;
    return true;
  }

  /** Returns the billed usage so far. `isComplete`: nothing is missing of the reply. */
  usage(isComplete: boolean): TokenUsage {
    const { delivered } = this;
    const isFinal = isComplete && this.#reportedEighths === delivered.eighths;
    return this.#policy(observe(this.#report, delivered, isFinal));
  }
}

/** Bytes of a reply that are kept for a tokenizer. */
const MAX_KEPT_BYTES = 32 * 1024;
const FIRST_BYTES = 256;
const NOTHING = new Uint8Array(0);
const NO_USES: UseCounts = {};
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Puts the vendor's report beside what was delivered, for the usage policy. */
export function observe(
  report: UsageReport | null,
  delivered: SizedText | WholeText,
  isReportFinal: boolean,
): ObservedUsage {
  const { tokens: deliveredTokens, uses: seenUses } = delivered;
  return { report, deliveredTokens, delivered, seenUses, isReportFinal };
}

/**
 * Sizes text piece by piece as it passes, by a rule of thumb. Its beginning is kept for a tokenizer, which counts it at
 * the end where the vendor reports nothing.
 */
export class SizedText implements CountableText {
  #kept: Uint8Array<ArrayBuffer> = NOTHING;
  #keptBytes = 0;
  #keptEighths = 0;
  #textEighths = 0;
  #otherEighths = 0;
  #isFull: boolean;
  #uses = NO_USES;

  /** With `isKept` false the text is sized only. */
  constructor({ isKept = true } = {}) {
    this.#isFull = !isKept;
  }

  /** Estimated size of everything so far, in eighths of a token. */
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

  /** Uses of features whose results were delivered so far. */
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

  /** The same for the bytes of UTF-8 text from `from` to `to`; `units` is their number of UTF-16 code units. */
  addUtf8(bytes: Uint8Array, from: number, to: number, units: number): void {
    const eighths = eighthsOf(to - from, units);
    this.#textEighths += eighths;
    if (this.#isFull) return;
    this.#isFull = this.#keptBytes + to - from > MAX_KEPT_BYTES;
    if (this.#isFull) return;
    this.#makeSpace(to - from);
    // A piece is a few bytes, for which a view costs more than the copy.
    for (let at = from; at < to; at += 1) this.#kept[this.#keptBytes++] = bytes[at] ?? 0;
    this.#keptEighths += eighths;
  }

  /** Counts what is no text. */
  addTokens(tokens: number): void {
    this.#otherEighths += 8 * tokens;
  }

  /** Counts the result of a use of a feature. */
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
 * The text of a whole reply, which `add` gives piece by piece. It is sized now, and read once more only where a
 * tokenizer counts it: nearly every vendor reports its usage.
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
