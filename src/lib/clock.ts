/** Time as an argument, so that tests can move it. */
export interface Clock {
  /** Wall clock, Unix milliseconds. May jump; only for what people and vendors read. */
  now(): number;
  /** Milliseconds that only ever go forward. For durations, leases and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
