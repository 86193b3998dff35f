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
  /** True once the caller would see content: from then on no other upstream can take over. */
  hasContent = false;

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  /** The content so far. */
  get delivered(): SizedText {
    return this.whole && this.whole.eighths > this.pieces.eighths ? this.whole : this.pieces;
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
