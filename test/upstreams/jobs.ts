import type { Behaviour } from "./behaviour.ts";

/** Jobs of a simulated asynchronous vendor. */
export interface SimulatedJobs<Output> {
  all: readonly SimulatedJob<Output>[];
  /** Accepts a job. The behaviour determines its result and its number of polls. */
  open(behaviour: Behaviour, output: Output): SimulatedJob<Output>;
  find(id: string | null | undefined): SimulatedJob<Output> | undefined;
}

export interface SimulatedJob<Output> {
  id: string;
  output: Output;
  outcome: string | undefined;
  isCancelled: boolean;
  /** Number of polls while the job was running. */
  readonly polled: number;
  /** True when the next poll will return the result. */
  readonly hasEnded: boolean;
  /** Counts a poll. Returns true when the job has ended. */
  poll(): boolean;
}

export function createJobs<Output>(): SimulatedJobs<Output> {
  const all: SimulatedJob<Output>[] = [];
  return {
    all,
    open({ outcome, polls = 1 }, output) {
      let polled = 0;
      const job: SimulatedJob<Output> = {
        id: `job-${all.length + 1}-${crypto.randomUUID()}`,
        output,
        outcome,
        isCancelled: false,
        get polled() {
          return polled;
        },
        get hasEnded() {
          return polled >= polls;
        },
        poll() {
          if (polled >= polls) return true;
          polled += 1;
          return false;
        },
      };
      all.push(job);
      return job;
    },
    find: (id) => all.find((job) => job.id === id),
  };
}
