import { pause } from "../../lib/pacer.ts";

/** Called between slices of long work: lets the event loop turn when it is due, and stops when aborted. */
export type Breathe = () => Promise<void>;

/** Throws the signal's reason once it is aborted. */
export function createBreathe(signal: AbortSignal): Breathe {
  return async () => {
    signal.throwIfAborted();
    await pause();
  };
}
