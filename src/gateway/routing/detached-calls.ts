import type { Attempt } from "../../domain/ledger.ts";
import type { Organization } from "../../domain/organization.ts";
import { FairSemaphore } from "../../lib/semaphore.ts";
import { sleep } from "../../lib/waiting.ts";

/**
 * Maximum of calls that continue after their client disconnected, of the process and of one organization; further ones
 * are aborted.
 */
const MAX_DETACHED = 32;
const MAX_DETACHED_PER_ORGANIZATION = 8;
const MAX_END_MS = 1_000;
const POLL_MS = 5;

/** A signal for a vendor call that may outlive its client. */
export interface DetachableSignal {
  signal: AbortSignal;
  /** Call it at the end of the vendor call. */
  release(): void;
}

const nothing = (): void => {};

/** Decides about a vendor call whose client disconnects: it is aborted, or read to its end within a bound. */
export class DetachedCalls {
  readonly #running = new Set<AbortController>();
  readonly #slots = new FairSemaphore(MAX_DETACHED, MAX_DETACHED_PER_ORGANIZATION);
  #isClosed = false;

  /**
   * Returns the signal for a vendor call: the client's own under `abort`, one that outlives the client under `drain`.
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

  /** True when a request's last call ended because its client disconnected, and not because this process stops. */
  isEndedByClient(attempts: readonly Attempt[]): boolean {
    return attempts.at(-1)?.outcome === "caller_gone" && !this.#isClosed;
  }

  /** Detaches no more calls: from now on a call is aborted when its client disconnects. */
  refuse(): void {
    this.#isClosed = true;
  }

  /** Waits until no detached call runs, at most `withinMs`. */
  async ended(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.#running.size > 0 && performance.now() < until) await sleep(POLL_MS);
  }

  /** Aborts all detached calls, refuses new ones, and waits up to a second for their end. */
  async close(): Promise<void> {
    this.refuse();
    for (const controller of this.#running) controller.abort();
    await this.ended(MAX_END_MS);
  }
}
