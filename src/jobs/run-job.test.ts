import { beforeEach, expect, test } from "bun:test";
import type { Organization } from "../domain/organization.ts";
import type { ImageCore } from "../gateway/images.ts";
import type { Spool } from "../lib/spool.ts";
import { aJob } from "../../test/support/jobs.ts";
import type { ClaimedJob, JobEnding, JobStore } from "./ports.ts";
import { RunControl } from "./run-control.ts";
import { contextOfJob, runJob } from "./run-job.ts";

let hasBegun = false;
beforeEach(() => {
  hasBegun = false;
});

const core = {
  /** Read before anything of a job is done. */
  get blobs() {
    hasBegun = true;
    return null;
  },
  snapshot: { directory: () => ({ channels: new Map([["sandbox", {}]]) }) },
  upstreams: { image: () => ({ isRepeatable: true }) },
} as unknown as ImageCore & { jobs: JobStore };

function run(change: Partial<ClaimedJob>, organization: Partial<Organization> = {}): Promise<JobEnding> {
  const { id: jobId, ...submitted } = aJob();
  const job: ClaimedJob = {
    ...submitted,
    jobId,
    fence: 2,
    status: "in_progress",
    createdAt: 0,
    remainingMs: 60_000,
    pickUpMs: null,
    isCancelRequested: false,
    isKeyUsable: true,
    sent: null,
    ...change,
  };
  using control = new RunControl(job);
  const owner = { id: "org_a", isDisabled: false, settings: {}, ...organization } as Organization;
  const context = contextOfJob(core, job, owner, control.signal);
  return runJob({ job, core, context, control, spool: {} as Spool });
}

test.each([
  ["key", { isKeyUsable: false }, {}],
  ["organization", {}, { isDisabled: true }],
])("a job is refused whose %s may no longer call", async (_, job, organization) => {
  expect(await run(job, organization)).toMatchObject({
    status: "failed",
    error: { type: "authentication_required" },
    entry: null,
  });
  expect(hasBegun).toBe(false);
});

test("a cancelled job that would be run again is cancelled at once", async () => {
  const sent = { channel: "sandbox", upstreamModel: "sandbox-a", vendorJobs: {} };
  expect(await run({ isCancelRequested: true, sent })).toEqual({
    status: "cancelled",
    outputs: [],
    error: null,
    entry: null,
  });
  expect(hasBegun).toBe(false);
});

test("a job that a vendor has goes on although its key was disabled since: the vendor is paid", async () => {
  const sent = { channel: "elsewhere", upstreamModel: "m", vendorJobs: { 0: "vendor-1" } };
  await run({ isKeyUsable: false, sent });
  expect(hasBegun).toBe(true);
});
