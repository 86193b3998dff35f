import type { TokenUsage, UsagePolicy, UsageReport } from "../domain/usage.ts";
import { observe, SizedText } from "./sized-text.ts";

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
