import { UpstreamError } from "../../domain/upstream-error.ts";
import { LightCancellation, type Cancellation } from "../../lib/cancellation.ts";
import type { Deadline, DeadlineTimer } from "../../lib/deadline-timer.ts";

/**
 * One running call to a vendor and what may end it early. A client that disconnects and a deadline that passes both
 * abort the same cancellation, whose reason says which; each takes effect within a tick of the deadline timer.
 */
export class Call {
  /** The vendor's own id of the call, once its response has come. */
  vendorRequestId: string | undefined;
  readonly #cancellation = new LightCancellation();
  readonly #deadlineTimer: DeadlineTimer;
  readonly #client: AbortSignal;
  #deadline: Deadline | undefined;
  /** Runs from the beginning to the end of the call. */
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

  /** The same for those who need an `AbortSignal`. */
  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /**
   * Ends the call with a `timeout` unless the next `expect` or `stopExpecting` comes in time. `extendMs` is called then
   * and returns by how many milliseconds the deadline is extended, once.
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

  /** The client's signal no longer ends the call as a whole: whoever relays its reply sees the client disconnect. */
  leaveClient(): void {
    if (this.#total) this.#deadlineTimer.unwatch(this.#total);
  }

  /** The call is over: clears its deadlines; the client's signal no longer aborts it. */
  finish(): void {
    this.stopExpecting();
    if (this.#total) this.#deadlineTimer.clear(this.#total);
    this.#total = undefined;
  }

  abort(reason: Error): void {
    this.finish();
    this.#cancellation.abort(reason);
  }

  /** Why a call that threw ended: the abort's reason, where it was aborted. */
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

  /** `isReplyWhole`: a reply was read to its end all the same. */
  constructor(readonly isReplyWhole = false) {
    super();
  }
}
