import type { Channel } from "../../domain/channel.ts";

/** Calls under way on each channel of this process, for channels that bear only so many. */
export class ConcurrencyLimiter {
  readonly #taken = new Map<string, number>();

  /** Whether there is a place to take. */
  isFree({ id, maxConcurrent }: Channel): boolean {
    return maxConcurrent === undefined || (this.#taken.get(id) ?? 0) < maxConcurrent;
  }

  /** Takes a place on the channel; null when all are taken. What it answers gives the place back, once. */
  take({ id, maxConcurrent }: Channel): (() => void) | null {
    if (maxConcurrent === undefined) return NOTHING;
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= maxConcurrent) return null;
    this.#taken.set(id, taken + 1);
    let isGiven = false;
    return () => {
      if (!isGiven) this.#taken.set(id, (this.#taken.get(id) ?? 1) - 1);
      isGiven = true;
    };
  }
}

const NOTHING = (): void => {};
