import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TokenUsage, UsagePolicy, UsageReport } from "../../domain/usage.ts";
import { observe, SizedText } from "../sized-text.ts";
import type { ReplyEvent } from "./reply.ts";

/** Of the calls of a reply, which are parsed at its end. As many as 200,000 tokens have. */
const MAX_ARGUMENT_CHARACTERS = 1024 * 1024;

/** Counts what a reply delivers, event by event, beside what the vendor reports of it. */
export class Delivered {
  readonly #policy: UsagePolicy;
  #report: UsageReport | null = null;
  readonly #delivered = new SizedText();
  /** Estimated size of the content up to the last report. */
  #reportedEighths = 0;
  #argumentCharacters = 0;
  /** True once there is something that a caller would read. A signature alone, of thoughts not shown, is nothing yet. */
  hasContent = false;

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  add(event: ReplyEvent): void {
    switch (event.type) {
      case "text":
      case "refusal":
      case "reasoning":
        return this.#addText(event.text);
      case "arguments":
        this.#argumentCharacters += event.text.length;
        if (this.#argumentCharacters > MAX_ARGUMENT_CHARACTERS)
          throw new UpstreamError("broken", "a reply with too long arguments of calls");
        return this.#addText(event.text);
      case "call":
        return this.#addText(event.name);
      case "finish":
        this.hasContent = true;
        return;
      case "use":
        return this.#delivered.addUse(event.feature);
      case "usage":
        // A report without anything usable does not replace one that has something.
        if (this.#report && !event.report.hasInput && !event.report.hasOutput) return;
        this.#report = event.report;
        this.#reportedEighths = this.#delivered.eighths;
        return;
      case "start":
      case "signature":
        return;
    }
  }

  /** What is billed so far. `isComplete`: nothing is missing of the reply. */
  usage(isComplete: boolean): TokenUsage {
    const isFinal = isComplete && this.#reportedEighths === this.#delivered.eighths;
    return this.#policy(observe(this.#report, this.#delivered, isFinal));
  }

  #addText(text: string): void {
    if (text === "") return;
    this.hasContent = true;
    this.#delivered.add(text);
  }
}
