import type { ClaimedJob } from "./ports.ts";
import { after } from "../lib/waiting.ts";

/** Why a running job was stopped. The first reason stays. */
type StopReason = "cancelled" | "overdue" | "handed over" | "lost";

/** Stops one running job, at its deadline by itself. Dispose of it when the job has ended. */
export class RunControl implements Disposable {
  readonly #controller = new AbortController();
  readonly #clearDeadline: () => void;
  #reason: StopReason | null = null;
  #isCancelRequested: boolean;
  /** A vendor has a job for it that is not looked at yet, and is cancelled only by who looks at it. */
  #isUnseen: boolean;

  constructor({ remainingMs, isCancelRequested, sent }: ClaimedJob) {
    this.#clearDeadline = after(Math.max(0, remainingMs), () => this.stop("overdue"));
    this.#isCancelRequested = isCancelRequested;
    this.#isUnseen = sent !== null && Object.keys(sent.vendorJobs).length > 0;
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

  /** Somebody else goes on with the job, or has it already. */
  get isHandedOver(): boolean {
    return this.#reason === "handed over" || this.#reason === "lost";
  }

  /** Cancels it at once, or as soon as its vendor's job is looked at. */
  cancel(): void {
    this.#isCancelRequested = true;
    if (!this.#isUnseen) this.stop("cancelled");
  }

  /** Call when a vendor's job is about to be looked at: by the next turn all calls of the order are. */
  seen(): void {
    this.#isUnseen = false;
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
