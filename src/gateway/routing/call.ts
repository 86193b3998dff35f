import type { Attempt } from "../../domain/ledger.ts";
import type { Organization } from "../../domain/organization.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { type Cancellation, LightCancellation, sleep } from "../../lib/waiting.ts";
import type { Deadline, DeadlineTimer } from "../../lib/deadline-timer.ts";
import { FairSemaphore } from "../../lib/semaphore.ts";

const NO_PARAMS: readonly string[] = [];

/**
 * One running call to a vendor. The call's cancellation is aborted when the client disconnects, a deadline passes or
 * the gateway ends the call; the reason of the abort shows the cause. A deadline takes effect up to one tick of its
 * timer late.
 */
export class Call {
  /** The vendor's own id of the call; set once its response has begun. */
  vendorRequestId: string | undefined;
  /** The caller's fields that have no effect at the vendor. */
  ignoredParams: readonly string[] = NO_PARAMS;
  /** Set while the call waits for the first part of its reply; `since` is in monotonic milliseconds. */
  waiting: { channel: string; organization: string; since: number } | null = null;
  readonly #cancellation = new LightCancellation();
  readonly #deadlineTimer: DeadlineTimer;
  readonly #client: AbortSignal;
  #deadline: Deadline | undefined;
  /** Deadline of the whole call. */
  #total: Deadline | undefined;

  constructor(deadlineTimer: DeadlineTimer, client: AbortSignal, totalMs: number) {
    this.#deadlineTimer = deadlineTimer;
    this.#client = client;
    if (client.aborted) this.abort(new ClientDisconnected());
    else this.#total = this.#setDeadline(totalMs, "the whole call");
  }

  /** Aborts when the vendor's call must end. */
  get cancellation(): Cancellation {
    return this.#cancellation;
  }

  /** The cancellation as an `AbortSignal`. */
  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /**
   * Ends the call with a `timeout` after `withinMs`. A later `expect` or `stopExpecting` replaces or clears this
   * deadline. At the deadline, `extendMs` returns the milliseconds to add, unless the client has disconnected.
   */
  expect(what: string, withinMs: number, extendMs?: () => number): void {
    this.stopExpecting();
    this.#deadline = this.#setDeadline(withinMs, what, () => {
      const moreMs = this.#client.aborted ? 0 : (extendMs?.() ?? 0);
      if (moreMs > 0) this.expect(what, moreMs);
      return moreMs > 0;
    });
  }

  /** Clears the deadline that `expect` set. */
  stopExpecting(): void {
    if (this.#deadline) this.#deadlineTimer.clear(this.#deadline);
    this.#deadline = undefined;
  }

  /** Stops watching the client's signal. From now on the relay of the reply handles the client's disconnection. */
  leaveClient(): void {
    if (this.#total) this.#deadlineTimer.unwatch(this.#total);
  }

  /** Ends the call: clears its deadlines and stops watching the client's signal. */
  finish(): void {
    this.stopExpecting();
    if (this.#total) this.#deadlineTimer.clear(this.#total);
    this.#total = undefined;
  }

  abort(reason: Error): void {
    this.finish();
    this.#cancellation.abort(reason);
  }

  /** Returns the reason of the abort if the call was aborted, otherwise the error that the call threw. */
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

/** Thrown when the client has disconnected. No target failed, and nobody reads a reply. */
export class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";

  /** `isReplyWhole` is true when the vendor's reply was read to its end after the client had disconnected. */
  constructor(readonly isReplyWhole = false) {
    super();
  }
}

/**
 * Maximum number of calls that continue without their client, for this process. `MAX_DETACHED_PER_ORGANIZATION` is the
 * maximum of one organization. Calls beyond a maximum are aborted.
 */
const MAX_DETACHED = 32;
const MAX_DETACHED_PER_ORGANIZATION = 8;
const MAX_END_MS = 1_000;
const POLL_MS = 5;

/** A signal for a vendor call that may outlive its client. */
export interface DetachableSignal {
  signal: AbortSignal;
  /** Must be called at the end of the vendor call. */
  release(): void;
}

const nothing = (): void => {};

/** Decides about a vendor call whose client disconnects. The call is aborted, or continues until its reply is read. */
export class DetachedCalls {
  readonly #running = new Set<AbortController>();
  readonly #slots = new FairSemaphore(MAX_DETACHED, MAX_DETACHED_PER_ORGANIZATION);
  #isClosed = false;

  /**
   * Returns the signal for a vendor call: with `abort` the client's signal, with `drain` a signal that may outlive the
   * client.
   */
  signalFor({ id, settings }: Organization, client: AbortSignal): DetachableSignal {
    if (settings.callerGone === "abort" || client.aborted) return { signal: client, release: nothing };
    const controller = new AbortController();
    let slot: Disposable | null = null;
    const detach = (): void => {
      slot = this.#isClosed ? null : this.#slots.tryAcquire(id);
      if (!slot) return controller.abort();
      this.#running.add(controller);
    };
    client.addEventListener("abort", detach, { once: true });
    return {
      signal: controller.signal,
      release: () => {
        client.removeEventListener("abort", detach);
        this.#running.delete(controller);
        slot?.[Symbol.dispose]();
      },
    };
  }

  /** True when a request's last call ended because its client disconnected. False when this process was stopping. */
  isEndedByClient(attempts: readonly Attempt[]): boolean {
    return attempts.at(-1)?.outcome === "caller_gone" && !this.#isClosed;
  }

  /** Stops detaching calls. From now on a call is aborted when its client disconnects. */
  refuse(): void {
    this.#isClosed = true;
  }

  /** Waits until no detached call runs, at most `withinMs`. */
  async ended(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.#running.size > 0 && performance.now() < until) await sleep(POLL_MS);
  }

  /** Aborts all detached calls, refuses new detached calls, and waits up to a second for the aborted calls to end. */
  async close(): Promise<void> {
    this.refuse();
    for (const controller of this.#running) controller.abort();
    await this.ended(MAX_END_MS);
  }
}
