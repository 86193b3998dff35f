/** Called between slices of long work: lets the event loop turn when it is due, and stops when aborted. */
export type Breathe = () => Promise<void>;

const LONGEST_SLICE_MS = 8;

/** Throws the signal's reason once it is aborted. */
export function createBreathe(signal: AbortSignal): Breathe {
  let sliceStart = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - sliceStart < LONGEST_SLICE_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    sliceStart = performance.now();
  };
}
