import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Deadline, Deadlines } from "../../lib/deadlines.ts";

/**
 * One call to a vendor as it runs: what ends it early. The caller's going and a passed deadline both abort the
 * same signal, whose reason tells them apart.
 */
export class Call {
  readonly #controller = new AbortController();
  #deadline: Deadline | undefined;

  constructor(
    private readonly deadlines: Deadlines,
    caller: AbortSignal,
  ) {
    if (caller.aborted) this.abort(new CallerGone());
    else caller.addEventListener("abort", () => this.abort(new CallerGone()), { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the call with a `timeout` unless the next `expect` or `settle` comes in time. */
  expect(what: string, withinMs: number): void {
    this.settle();
    this.#deadline = this.deadlines.set(withinMs, () => {
      this.abort(new UpstreamError("timeout", `${what} took over ${withinMs} ms`, { isAmbiguous: true }));
    });
  }

  /** Nothing is being waited for. */
  settle(): void {
    if (this.#deadline) this.deadlines.clear(this.#deadline);
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
}

/** The caller hung up: nobody's fault, and nobody reads an answer. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}
