import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Deadline, DeadlineTimer } from "../../lib/deadline-timer.ts";

/**
 * One call to a vendor as it runs: what ends it early. The caller's going and a passed deadline both abort the
 * same signal, whose reason tells them apart; each is noticed within a tick of the deadlines.
 */
export class Call {
  readonly #controller = new AbortController();
  /** What the vendor's call obeys. */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #deadlineTimer: DeadlineTimer;
  readonly #caller: AbortSignal;
  #deadline: Deadline | undefined;
  /** Runs from the beginning to the end of the call. */
  #total: Deadline | undefined;

  constructor(deadlineTimer: DeadlineTimer, caller: AbortSignal, totalMs: number) {
    this.#deadlineTimer = deadlineTimer;
    this.#caller = caller;
    if (caller.aborted) this.abort(new ClientDisconnected());
    else this.#total = this.#watch(totalMs, "the whole call");
  }

  /**
   * Ends the call with a `timeout` unless the next `expect` or `settle` comes in time. With `patience` it is asked
   * then for how many milliseconds more the call may go on.
   */
  expect(what: string, withinMs: number, patience?: () => number): void {
    this.settle();
    this.#deadline = this.#watch(withinMs, what, () => {
      const moreMs = this.#caller.aborted ? 0 : (patience?.() ?? 0);
      if (moreMs > 0) this.expect(what, moreMs);
      return moreMs > 0;
    });
  }

  /** Nothing in particular is being waited for. */
  settle(): void {
    if (this.#deadline) this.#deadlineTimer.clear(this.#deadline);
    this.#deadline = undefined;
  }

  /** The call is over; neither its deadlines nor its caller matter any more. */
  finish(): void {
    this.settle();
    if (this.#total) this.#deadlineTimer.clear(this.#total);
    this.#total = undefined;
  }

  abort(reason: Error): void {
    this.finish();
    this.#controller.abort(reason);
  }

  /** What really ended a call that threw: the abort's reason where there was one. */
  reasonOf(error: unknown): unknown {
    return this.signal.aborted ? this.signal.reason : error;
  }

  #watch(withinMs: number, what: string, isPut = () => false): Deadline {
    const pass = (): void => {
      if (!isPut()) this.abort(this.#whyNow(withinMs, what));
    };
    return this.#deadlineTimer.set(withinMs, pass, this.#caller);
  }

  #whyNow(withinMs: number, what: string): Error {
    if (this.#caller.aborted) return new ClientDisconnected();
    return new UpstreamError("timeout", `${what} took over ${withinMs} ms`, { isAmbiguous: true });
  }
}

/** The caller hung up: nobody's fault, and nobody reads an answer. */
export class ClientDisconnected extends Error {
  override readonly name = "CallerGone";
}
