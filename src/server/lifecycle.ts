/**
 * What the server does with requests: all of it (`serving`, and `leaving`, in which only readiness says no), only on
 * open connections (`draining`), or nothing more (`stopping`).
 */
export type Phase = "serving" | "leaving" | "draining" | "stopping";

/** The phase of the server, and since when no request has come. */
export class Lifecycle {
  #phase: Phase = "serving";
  #quietSince = performance.now();

  get phase(): Phase {
    return this.#phase;
  }

  set phase(phase: Phase) {
    this.#phase = phase;
    this.#quietSince = performance.now();
  }

  /** Notes that a request came. */
  notice(): void {
    this.#quietSince = performance.now();
  }

  quietMs(): number {
    return performance.now() - this.#quietSince;
  }
}
