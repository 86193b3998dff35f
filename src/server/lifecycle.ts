/**
 * The requests that the server accepts: all of them (`serving`, and `leaving`, in which only the readiness probe
 * fails), only those on open connections (`draining`), or none (`stopping`).
 */
export type Phase = "serving" | "leaving" | "draining" | "stopping";

/** Holds the phase of the server and the time since the last request. */
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

  /** Notes the arrival of a request. */
  notice(): void {
    this.#quietSince = performance.now();
  }

  quietMs(): number {
    return performance.now() - this.#quietSince;
  }
}
