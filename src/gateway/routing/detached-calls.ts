import type { OrganizationSettings } from "../../domain/organization.ts";

/** Most answers read to their end for callers who have gone; beyond it they are aborted. */
const MAX_DETACHED = 32;
const MAX_END_MS = 1_000;

/** What happens to vendor calls whose caller hangs up: aborted, or read to their end within a bound. */
export class DetachedCalls {
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  /**
   * The signal a vendor call should obey. Under `drain` it is not aborted when the caller goes, as long as few
   * others drain; `finished` must then be called at the end of the call.
   */
  guard(
    policy: OrganizationSettings["callerGone"],
    caller: AbortSignal,
  ): { signal: AbortSignal; finished(): void } {
    if (policy === "abort" || caller.aborted) return { signal: caller, finished: () => {} };
    const controller = new AbortController();
    const gone = (): void => {
      if (this.#isClosed || this.#running.size >= MAX_DETACHED) return controller.abort();
      this.#running.add(controller);
    };
    caller.addEventListener("abort", gone, { once: true });
    return {
      signal: controller.signal,
      finished: () => {
        caller.removeEventListener("abort", gone);
        this.#running.delete(controller);
      },
    };
  }

  /** Waits until nothing is being read to its end any more, for so long at most. */
  async settled(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.#running.size > 0 && performance.now() < until) await Bun.sleep(5);
  }

  /** Aborts what is being read to its end, now and from now on, and waits, for a second at most, until it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort();
    await this.settled(MAX_END_MS);
  }
}
