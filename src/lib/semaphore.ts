import { untilAborted } from "./waiting.ts";

/**
 * Bounds how many callers do something at once. Callers wait in order of arrival.
 */
export interface Semaphore {
  /** Waits for a slot, which disposing releases. Rejects with the signal's reason when that aborts first. */
  acquire(signal?: AbortSignal): Promise<Disposable>;
}

/** A semaphore of `slots`, at least one. */
export function createSemaphore(slots: number): Semaphore {
  if (!Number.isInteger(slots) || slots < 1) throw new RangeError("a semaphore needs at least one slot");
  const waiters = new Set<() => void>();
  let available = slots;

  function takeSlot(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        const [next] = waiters;
        if (!next) return void (available += 1);
        waiters.delete(next);
        next();
      },
    };
  }

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (available > 0) {
        available -= 1;
        return takeSlot();
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.add(resolve);
      try {
        await (signal ? untilAborted(promise, signal) : promise);
      } catch (error) {
        // The slot may have been passed on in the same turn as the abort.
        if (!waiters.delete(resolve)) takeSlot()[Symbol.dispose]();
        throw error;
      }
      return takeSlot();
    },
  };
}
