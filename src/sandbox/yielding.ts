import { yieldToEventLoop } from "../lib/pacer.ts";

/** Called between slices of long work: lets the event loop turn when it is due, and stops when aborted. */
export type YieldToEventLoop = () => Promise<void>;

/** Throws the signal's reason once it is aborted. */
export function createYield(signal: AbortSignal): YieldToEventLoop {
  return async () => {
    signal.throwIfAborted();
    await yieldToEventLoop();
  };
}
