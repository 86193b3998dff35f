/** A source of time. Code gets it as an argument, so that tests can control the time. */
export interface Clock {
  /**
   * Unix milliseconds of the wall clock. The wall clock may jump, so use it only for times that people or vendors see.
   */
  now(): number;
  /** Milliseconds that never decrease. Use them for durations, leases and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
