import type { Clock } from "../../lib/clock.ts";

const WINDOW_MS = 10_000;

/**
 * Limits repeated calls to a failing target, so that retries do not add to its load: within ten seconds at most `ratio`
 * × first calls + `floor` repeated calls for each target.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #ratio: number;
  readonly #floor: number;
  readonly #counts = new Map<string, Counts>();

  constructor(clock: Clock, ratio: number, floor: number) {
    this.#clock = clock;
    this.#ratio = ratio;
    this.#floor = floor;
  }

  /** Counts a request's first call to a target. `now` is in monotonic milliseconds. */
  countCall(target: string, now: number): void {
    this.#current(target, now).calls++;
  }

  /** Takes one repeated call, or returns false when the target's share is used up. */
  takeRetry(target: string): boolean {
    const counts = this.#current(target, this.#clock.monotonic());
    const max = this.#ratio * (counts.calls + counts.earlierCalls) + this.#floor;
    if (counts.retries + counts.earlierRetries + 1 > max) return false;
    counts.retries++;
    return true;
  }

  /** Returns the target's counts in two halves of the window. The older half is dropped when a new one begins. */
  #current(target: string, now: number): Counts {
    const found = this.#counts.get(target);
    if (found && now - found.startedAt < WINDOW_MS / 2) return found;
    const isNext = found !== undefined && now - found.startedAt < WINDOW_MS;
    const counts = {
      startedAt: now,
      calls: 0,
      retries: 0,
      earlierCalls: isNext ? found.calls : 0,
      earlierRetries: isNext ? found.retries : 0,
    };
    this.#counts.set(target, counts);
    return counts;
  }
}

interface Counts {
  /** Monotonic milliseconds. */
  startedAt: number;
  calls: number;
  retries: number;
  earlierCalls: number;
  earlierRetries: number;
}
