import type { ClaimedJob } from "./ports.ts";
import { after } from "../lib/waiting.ts";

/** The reason why a running job was stopped. The first reason remains. */
type StopReason = "cancelled" | "overdue" | "handed over" | "lost";

/** Stops one running job, on request or at its deadline. Dispose of it when the job has ended. */
export class RunControl implements Disposable {
  readonly #controller = new AbortController();
  readonly #clearDeadline: () => void;
  #reason: StopReason | null = null;
  #isCancelRequested: boolean;
  /**
   * True while a vendor has a job for it that this run has not polled yet: cancelling the vendor's job needs a poll
   * first.
   */
  #isUnpolled: boolean;

  constructor({ remainingMs, isCancelRequested, sent }: ClaimedJob) {
    this.#clearDeadline = after(Math.max(0, remainingMs), () => this.stop("overdue"));
    this.#isCancelRequested = isCancelRequested;
    this.#isUnpolled = sent !== null && Object.keys(sent.vendorJobs).length > 0;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#isCancelRequested;
  }

  get isOverdue(): boolean {
    return this.#reason === "overdue";
  }

  /** True when another worker continues the job or has it already. */
  get isHandedOver(): boolean {
    return this.#reason === "handed over" || this.#reason === "lost";
  }

  /** Cancels the job at once, or as soon as its vendor's job is polled. */
  cancel(): void {
    this.#isCancelRequested = true;
    if (!this.#isUnpolled) this.stop("cancelled");
  }

  /**
   * Call it before a vendor's job is polled. In the next turn of the event loop all calls of the order are being
   * polled.
   */
  beforePoll(): void {
    this.#isUnpolled = false;
    if (this.#isCancelRequested) setImmediate(() => this.stop("cancelled"));
  }

  stop(reason: StopReason): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller.abort(new Error(`the job was ${reason}`));
  }

  [Symbol.dispose](): void {
    this.#clearDeadline();
  }
}
