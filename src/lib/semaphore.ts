/**
 * Bounds how many callers do something at once. Waiters are served in order of arrival.
 */
export interface Semaphore {
  /** Waits for a place; dispose of it to give it back. Rejects with the signal's reason when that aborts first. */
  acquire(signal?: AbortSignal): Promise<Disposable>;
}

/** A semaphore of `places`, at least one. */
export function createSemaphore(slots: number): Semaphore {
  if (!Number.isInteger(slots) || slots < 1) throw new RangeError("a semaphore needs at least one place");
  const waiters = new Set<() => void>();
  let available = slots;

  function takeSlot(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        const [next] = waiters;
        if (next) next();
        else available += 1;
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
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = () => {
        waiters.delete(enter);
        reject(signal?.reason);
      };
      const enter = () => {
        waiters.delete(enter);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      waiters.add(enter);
      signal?.addEventListener("abort", leave, { once: true });
      await promise;
      return takeSlot();
    },
  };
}
