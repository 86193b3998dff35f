/** Lets at most a fixed number of tasks run at once; the others wait their turn, first come first served. */
export interface Gate {
  /** Runs the task when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result>;
}

export function createGate(limit: number): Gate {
  let running = 0;
  const waiting = new Set<() => void>();

  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (running < limit) {
      running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      waiting.delete(resolve);
      reject(signal.reason);
    };
    waiting.add(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    // The task that leaves hands its place over, so `running` stays as it is.
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  };

  const leave = (): void => {
    const [first] = waiting;
    if (first === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(first);
    first();
  };

  return {
    async run(signal, task) {
      await enter(signal);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
