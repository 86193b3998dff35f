import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Deadline, Deadlines } from "../../lib/deadlines.ts";

/**
 * One call to a vendor as it runs: what ends it early. The caller's going and a passed deadline both abort the
 * same signal, whose reason tells them apart; each is noticed within a tick of the deadlines.
 */
export class Call {
  readonly #controller = new AbortController();
  /** What the vendor's call obeys. */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #deadlines: Deadlines;
  readonly #caller: AbortSignal;
  #deadline: Deadline | undefined;

  constructor(deadlines: Deadlines, caller: AbortSignal) {
    this.#deadlines = deadlines;
    this.#caller = caller;
    if (caller.aborted) this.abort(new CallerGone());
    else this.#watch(Number.POSITIVE_INFINITY, "the call");
  }

  /** Ends the call with a `timeout` unless the next `expect` or `settle` comes in time. */
  expect(what: string, withinMs: number): void {
    this.settle();
    this.#watch(withinMs, what);
  }

  /** Nothing is being waited for, and the caller's going is somebody else's matter. */
  settle(): void {
    if (this.#deadline) this.#deadlines.clear(this.#deadline);
    this.#deadline = undefined;
  }

  abort(reason: Error): void {
    this.settle();
    this.#controller.abort(reason);
  }

  /** What really ended a call that threw: the abort's reason where there was one. */
  reasonOf(error: unknown): unknown {
    return this.signal.aborted ? this.signal.reason : error;
  }

  #watch(withinMs: number, what: string): void {
    this.#deadline = this.#deadlines.set(
      withinMs,
      () => this.abort(this.#whyNow(withinMs, what)),
      this.#caller,
    );
  }

  #whyNow(withinMs: number, what: string): Error {
    if (this.#caller.aborted) return new CallerGone();
    return new UpstreamError("timeout", `${what} took over ${withinMs} ms`, { isAmbiguous: true });
  }
}

/** The caller hung up: nobody's fault, and nobody reads an answer. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}
