import type { OrganizationSettings } from "../../domain/organization.ts";

/** Most answers read to their end for callers who have gone; beyond it they are aborted. */
const MOST_DRAINS = 32;

/** What happens to vendor calls whose caller hangs up: aborted, or read to their end within a bound. */
export class Drains {
  #running = 0;

  /**
   * The signal a vendor call should obey. Under `drain` it is not aborted when the caller goes, as long as few
   * others drain; `finished` must then be called at the end of the call.
   */
  guard(
    policy: OrganizationSettings["callerGone"],
    caller: AbortSignal,
  ): { signal: AbortSignal; finished(): void } {
    if (policy === "abort") return { signal: caller, finished: () => {} };
    const controller = new AbortController();
    let isDraining = false;
    const gone = (): void => {
      if (this.#running >= MOST_DRAINS) return controller.abort();
      isDraining = true;
      this.#running++;
    };
    caller.addEventListener("abort", gone, { once: true });
    return {
      signal: controller.signal,
      finished: () => {
        caller.removeEventListener("abort", gone);
        if (isDraining) this.#running--;
        isDraining = false;
      },
    };
  }
}
