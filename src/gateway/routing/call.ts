import { UpstreamError } from "../../domain/upstream-error.ts";
import { LightCancellation, type Cancellation } from "../../lib/cancellation.ts";
import type { Deadline, DeadlineTimer } from "../../lib/deadline-timer.ts";

/**
 * One running call to a vendor and the events that may end it early. A disconnecting client and an expired deadline
 * abort the same cancellation, and its reason tells which; each takes effect within a tick of the deadline timer.
 */
export class Call {
  /** The vendor's own id of the call; set once its response has begun. */
  vendorRequestId: string | undefined;
  readonly #cancellation = new LightCancellation();
  readonly #deadlineTimer: DeadlineTimer;
  readonly #client: AbortSignal;
  #deadline: Deadline | undefined;
  /** Runs for the whole call. */
  #total: Deadline | undefined;

  constructor(deadlineTimer: DeadlineTimer, client: AbortSignal, totalMs: number) {
    this.#deadlineTimer = deadlineTimer;
    this.#client = client;
    if (client.aborted) this.abort(new ClientDisconnected());
    else this.#total = this.#setDeadline(totalMs, "the whole call");
  }

  /** Ends the vendor's call. */
  get cancellation(): Cancellation {
    return this.#cancellation;
  }

  /** The cancellation as an `AbortSignal`. */
  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /**
   * Ends the call with a `timeout` unless the next `expect` or `stopExpecting` comes in time. At the deadline,
   * `extendMs` is called once and returns the milliseconds by which the deadline is extended.
   */
  expect(what: string, withinMs: number, extendMs?: () => number): void {
    this.stopExpecting();
    this.#deadline = this.#setDeadline(withinMs, what, () => {
      const moreMs = this.#client.aborted ? 0 : (extendMs?.() ?? 0);
      if (moreMs > 0) this.expect(what, moreMs);
      return moreMs > 0;
    });
  }

  /** Clears the deadline of `expect`. */
  stopExpecting(): void {
    if (this.#deadline) this.#deadlineTimer.clear(this.#deadline);
    this.#deadline = undefined;
  }

  /** Detaches the client's signal from the call: the relay of its reply handles the client's disconnection. */
  leaveClient(): void {
    if (this.#total) this.#deadlineTimer.unwatch(this.#total);
  }

  /** Ends the call: clears its deadlines and detaches the client's signal. */
  finish(): void {
    this.stopExpecting();
    if (this.#total) this.#deadlineTimer.clear(this.#total);
    this.#total = undefined;
  }

  abort(reason: Error): void {
    this.finish();
    this.#cancellation.abort(reason);
  }

  /** Returns the reason why a call threw: that of the abort if it was aborted, else the error itself. */
  reasonOf(error: unknown): unknown {
    return this.#cancellation.aborted ? this.#cancellation.reason : error;
  }

  #setDeadline(withinMs: number, what: string, isExtended?: () => boolean): Deadline {
    const pass = (): void => {
      if (!isExtended?.()) this.abort(this.#abortReason(withinMs, what));
    };
    return this.#deadlineTimer.set(withinMs, pass, this.#client);
  }

  #abortReason(withinMs: number, what: string): Error {
    if (this.#client.aborted) return new ClientDisconnected();
    return new UpstreamError("timeout", `${what} took over ${withinMs} ms`, { isAmbiguous: true });
  }
}

/** The client disconnected: no target failed, and nobody reads a reply. */
export class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";

  /** `isReplyWhole` is true when the reply was nevertheless read to its end. */
  constructor(readonly isReplyWhole = false) {
    super();
  }
}
