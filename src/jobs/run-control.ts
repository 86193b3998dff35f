import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import { random } from "../lib/random.ts";
import { after, sleep } from "../lib/waiting.ts";
import type { ClaimedJob } from "./ports.ts";

/** The reason why a running job was stopped. Only the first reason counts. */
type StopReason = "cancelled" | "overdue" | "handed over" | "lost";

/** Stops one running job, on request or at its deadline. Dispose of this object when the job has ended. */
export class RunControl implements Disposable {
  readonly #controller = new AbortController();
  readonly #clearDeadline: () => void;
  #reason: StopReason | null = null;
  #isCancelRequested: boolean;
  /** True when a vendor works on the job but this run has not polled it. Only a polled job can be cancelled. */
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

  /** True when another worker has the job or will continue it. */
  get isHandedOver(): boolean {
    return this.#reason === "handed over" || this.#reason === "lost";
  }

  /** Cancels the job. If a vendor already has the job, the cancellation waits for the first poll. */
  cancel(): void {
    this.#isCancelRequested = true;
    if (!this.#isUnpolled) this.stop("cancelled");
  }

  /**
   * Call this method before each poll of a vendor's job. A cancellation that waited for the poll takes effect in the
   * next turn of the event loop, when the order's other vendor jobs are polled too.
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

const MAX_WAIT_MS = 30_000;

/**
 * Repeats `work` until it succeeds or fails for a reason other than missing capacity. `waitOf` returns the milliseconds
 * to wait, or null if the error must be thrown. Waits grow up to 30 seconds. Jitter shortens each wait by up to half.
 */
export async function waitForCapacity<Result>(
  work: () => Promise<Result>,
  waitOf: (error: unknown) => number | null,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const waitMs = signal.aborted ? null : waitOf(error);
      if (waitMs === null) throw error;
      const grown = Math.min(MAX_WAIT_MS, waitMs * 2 ** Math.min(attempt, 5));
      await sleep(grown * (0.5 + random() / 2), signal);
    }
  }
}

/** Maximum number of calls that vendors may refuse because of throttling or overload. */
const MAX_REFUSED_CALLS = 5;

/**
 * Returns the milliseconds for which the job should wait. It waits when all vendors are at their limits, or when the
 * called vendors reported overload and did no work. Returns null in all other cases and after too many calls.
 */
export function capacityWaitMs(error: unknown, calls: number, mayCallAgain: boolean): number | null {
  if (!(error instanceof UpstreamError) || error.isAmbiguous) return null;
  if (error.kind !== "overloaded" && error.kind !== "limited") return null;
  if (calls > (mayCallAgain ? MAX_REFUSED_CALLS : 0)) return null;
  return (error.retryAfterSeconds ?? 1) * 1000;
}

const RETRY_MS = 250;

/** Repeats a write while the store is unavailable, so that finished or paid work is not lost. */
export async function retryWhileUnavailable<Result>(
  write: () => Promise<Result>,
  isOver: () => boolean,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof DependencyError) || isOver()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
