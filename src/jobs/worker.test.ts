import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { aJob } from "../../test/support/jobs.ts";
import { NO_LIMITS } from "../domain/limits.ts";
import type { BlobStore } from "../gateway/delivery/stored-blobs.ts";
import { systemClock } from "../lib/clock.ts";
import type { ClaimedJob, JobStore, RunningLimit } from "./ports.ts";
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

/** Starts a worker with one job, which waits until its stored picture can be read. */
function openRunning(isHeld: boolean) {
  const begun = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<null>();
  const finished = Promise.withResolvers<void>();
  const [claims, removed, ended]: [string[], string[], string[]] = [[], [], []];
  const { id: jobId, ...submitted } = aJob({
    request: JSON.stringify({ placeholder: "file:", files: [{ name: "picture.bin" }], request: null }),
  });
  const jobs: Partial<JobStore> = {
    wakes: async () => null,
    hasWork: async () => true,
    async claim() {
      claims.push(jobId);
      const isFirst = claims.length === 1;
      return isFirst
        ? ({
            ...submitted,
            jobId,
            remainingMs: 60_000,
            isKeyUsable: true,
            sent: null,
          } as unknown as ClaimedJob)
        : null;
    },
    async finish() {
      finished.resolve();
      return isHeld;
    },
    release: async () => {},
  };
  const blobs: Partial<BlobStore> = {
    async get() {
      begun.resolve();
      return await letGo.promise;
    },
    remove: async (name) => void removed.push(name),
  };
  const organizations = new Map([["org_a", { limits: {}, settings: {} }]]);
  const core = {
    jobs,
    blobs,
    clock: systemClock,
    snapshot: { directory: () => ({ organizations }) },
    limits: { organization: NO_LIMITS },
  };
  const worker = new JobWorker({
    core,
    worker: "w",
    concurrency: 1,
    createSpool: () => ({ async [Symbol.asyncDispose]() {} }),
    observer: { pickedUp() {}, ended: ({ job }: { job: { jobId: string } }) => void ended.push(job.jobId) },
    onProblem(message: string, cause: unknown) {
      throw new Error(message, { cause });
    },
  } as unknown as JobWorkerOptions);
  worker.start();
  const finish = async () => {
    letGo.resolve(null);
    await finished.promise;
    await worker.stop(5_000);
  };
  return { claims, removed, ended, jobId, begun: begun.promise, finish };
}

test("a worker claims no more jobs than it may run at once", async () => {
  const { claims, jobId, begun, finish } = openRunning(true);
  await begun;
  await setImmediate();
  expect(claims).toEqual([jobId]);
  await finish();
});

test.each([
  ["are removed once its end is stored", true],
  ["stay where another worker has it by now", false],
])("the files of a job %s", async (_, isHeld) => {
  const { removed, ended, jobId, finish } = openRunning(isHeld);
  await finish();
  expect({ removed, ended }).toEqual(
    isHeld ? { removed: ["picture.bin"], ended: [jobId] } : { removed: [], ended: [] },
  );
});
