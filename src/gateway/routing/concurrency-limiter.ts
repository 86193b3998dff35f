import type { Channel } from "../../domain/channel.ts";

/** Calls under way on each channel of this process, for channels with a `max_concurrent`. */
export class ConcurrencyLimiter {
  readonly #taken = new Map<string, number>();

  hasSlot({ id, maxConcurrent }: Channel): boolean {
    return maxConcurrent === undefined || (this.#taken.get(id) ?? 0) < maxConcurrent;
  }

  /** Takes a slot of the channel; null when all are taken. The result releases it and may be called again. */
  take({ id, maxConcurrent }: Channel): (() => void) | null {
    if (maxConcurrent === undefined) return NOTHING;
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= maxConcurrent) return null;
    this.#taken.set(id, taken + 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#taken.set(id, (this.#taken.get(id) ?? 1) - 1);
      isReleased = true;
    };
  }
}

const NOTHING = (): void => {};
