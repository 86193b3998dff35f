/** Time as an argument, so that tests can move it. */
export interface Clock {
  /** Wall clock in Unix milliseconds. It may jump, so use it only for times that people or vendors see. */
  now(): number;
  /** Milliseconds that never go back. For durations, leases and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
