import type { Clock } from "../../lib/clock.ts";

const WINDOW_MS = 10_000;

/**
 * Keeps retries a share of real traffic, so that a dying vendor is not stormed: within ten seconds at most
 * `ratio` × requests + `floor` further attempts.
 */
export class RetryBudget {
  #windowStart = -Infinity;
  #requests = 0;
  #retries = 0;
  #earlierRequests = 0;
  #earlierRetries = 0;

  constructor(
    private readonly clock: Clock,
    private readonly ratio: number,
    private readonly floor: number,
  ) {}

  /** Counts a request that is about to make its first attempt. */
  request(): void {
    this.#turn();
    this.#requests++;
  }

  /** Takes one further attempt, or answers false when the share is used up. */
  retry(): boolean {
    if (!this.hasCapacity()) return false;
    this.#retries++;
    return true;
  }

  /** Whether a further attempt could be taken now. */
  hasCapacity(): boolean {
    this.#turn();
    const max = this.ratio * (this.#requests + this.#earlierRequests) + this.floor;
    return this.#retries + this.#earlierRetries + 1 <= max;
  }

  #turn(): void {
    const now = this.clock.monotonic();
    const elapsed = now - this.#windowStart;
    if (elapsed < WINDOW_MS / 2) return;
    const isNext = elapsed < WINDOW_MS;
    this.#earlierRequests = isNext ? this.#requests : 0;
    this.#earlierRetries = isNext ? this.#retries : 0;
    this.#requests = 0;
    this.#retries = 0;
    this.#windowStart = now;
  }
}
