/** Time as an argument, so that tests can move it. */
export interface Clock {
  /** Wall clock, Unix milliseconds. May jump; for people and vendors only. */
  now(): number;
  /** Milliseconds that never go back. For durations, leases and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
