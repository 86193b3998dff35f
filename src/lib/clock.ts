/** The time, passed as an argument, so that tests can control it. */
export interface Clock {
  /** Unix milliseconds of the wall clock. They may jump, so use them only for times that people or vendors see. */
  now(): number;
  /** Milliseconds that never decrease. Use them for durations, leases and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
