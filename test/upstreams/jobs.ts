import type { Plan } from "./plan.ts";

/** Jobs of a simulated vendor that answers later. */
export interface SimulatedJobs<Output> {
  all: readonly SimulatedJob<Output>[];
  /** Takes a job in, whose end its plan tells. */
  open(plan: Plan, output: Output): SimulatedJob<Output>;
  find(id: string | null | undefined): SimulatedJob<Output> | undefined;
}

export interface SimulatedJob<Output> {
  id: string;
  output: Output;
  fate: string | undefined;
  isCancelled: boolean;
  /** Looks that found it running. */
  readonly looked: number;
  /** Whether the next look finds that it has ended. */
  readonly hasEnded: boolean;
  /** True when it has ended; each look that finds it running brings its end nearer. */
  look(): boolean;
}

export function createJobs<Output>(): SimulatedJobs<Output> {
  const all: SimulatedJob<Output>[] = [];
  return {
    all,
    open({ fate, looks = 1 }, output) {
      let looked = 0;
      const job: SimulatedJob<Output> = {
        id: `job-${all.length + 1}-${crypto.randomUUID()}`,
        output,
        fate,
        isCancelled: false,
        get looked() {
          return looked;
        },
        get hasEnded() {
          return looked >= looks;
        },
        look() {
          if (looked >= looks) return true;
          looked += 1;
          return false;
        },
      };
      all.push(job);
      return job;
    },
    find: (id) => all.find((job) => job.id === id),
  };
}
