import { expect, test } from "bun:test";
import { NO_LIMITS } from "../domain/limits.ts";
import type { JobStore, RunningLimit } from "./ports.ts";
import { JobWorker, type JobWorkerOptions } from "./worker.ts";

test("jobs of an organization that this process does not know yet are left to others", async () => {
  const { promise: claimed, resolve } = Promise.withResolvers<RunningLimit>();
  const jobs: Partial<JobStore> = {
    wakes: async () => null,
    hasWork: async () => true,
    async claim(_, runningLimit) {
      resolve(runningLimit);
      return null;
    },
    release: async () => {},
  };
  const organizations = new Map([
    ["org_limited", { limits: { runningJobs: 3 } }],
    ["org_other", { limits: {} }],
  ]);
  const core = {
    jobs,
    snapshot: { directory: () => ({ organizations }) },
    limits: { organization: { ...NO_LIMITS, runningJobs: 20 } },
  };
  const options = { core, worker: "w", concurrency: 1 } as unknown as JobWorkerOptions;
  const worker = new JobWorker(options);
  worker.start();
  const runningLimit = await claimed;
  expect(["org_limited", "org_other", "org_new"].map(runningLimit)).toEqual([3, 20, 0]);
  await worker.stop(0);
});
