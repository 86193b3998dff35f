import { beforeEach, expect, test } from "bun:test";
import type { Target } from "../domain/channel.ts";
import type { Organization } from "../domain/organization.ts";
import type { ImageCore } from "../gateway/images.ts";
import type { Spool } from "../lib/spool.ts";
import { aJob } from "../../test/support/jobs.ts";
import { plainCore } from "../../test/support/plain-core.ts";
import type { ImageModel } from "../domain/model.ts";
import type { ImageUpstream } from "../gateway/upstreams.ts";
import type { ClaimedJob, JobEnding, JobStore } from "./ports.ts";
import { RunControl } from "./run-control.ts";
import { contextOfJob, followCalls, LeaseLost, runJob } from "./run-job.ts";

const noUpstream: ImageUpstream = { generate: () => Promise.reject(new Error("nothing is called")) };

let hasBegun = false;
beforeEach(() => {
  hasBegun = false;
});

const core = {
  /** Reading the blobs is the first step of a job. */
  get blobs() {
    hasBegun = true;
    return null;
  },
  snapshot: { directory: () => ({ channels: new Map([["sandbox", {}]]) }) },
  upstreams: { image: () => ({ isRepeatable: true }) },
} as unknown as ImageCore & { jobs: JobStore };

function aClaimedJob(change: Partial<ClaimedJob>): ClaimedJob {
  const { id: jobId, ...submitted } = aJob();
  return {
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
}

function run(
  change: Partial<ClaimedJob>,
  organization: Partial<Organization> = {},
  ownCore = core,
): Promise<JobEnding> {
  const job = aClaimedJob(change);
  using control = new RunControl(job);
  const owner = { id: "org_a", isDisabled: false, settings: {}, ...organization } as Organization;
  const context = contextOfJob(ownCore, job, owner, control.signal);
  return runJob({ job, core: ownCore, context, control, spool: {} as Spool });
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

/** Records a job's vendor calls and the writes about them. With `isHeld` false, the lease is lost. */
function follow(sent: ClaimedJob["sent"], isHeld = true) {
  const job = aClaimedJob({ sent });
  const written: unknown[] = [];
  const jobs: Partial<JobStore> = {
    async send(_, target) {
      written.push(target);
      return isHeld;
    },
    async rememberVendorJobs(_, { vendorJobs }) {
      written.push({ ...vendorJobs });
      return isHeld;
    },
  };
  const control = new RunControl(job);
  const calls = followCalls({ job, core: { ...core, jobs: jobs as JobStore }, control });
  return { calls, written, control };
}

const TARGET = { channel: { id: "c" }, upstreamModel: "m", weight: 1 } as Target;

test("a job that was sent is polled call by call, and never sent again", async () => {
  const sent = { channel: "c", upstreamModel: "m", vendorJobs: { 0: "vendor-0", 2: "vendor-2" } };
  const { calls, written, control } = follow(sent);
  using _control = control;
  await calls.onCall!(TARGET);
  expect(written).toEqual([]);
  const records = [0, 1, 2].map((call) => calls.vendorJobs!(call));
  expect(records.map(({ id, isLost }) => [id, isLost])).toEqual([
    ["vendor-0", false],
    [null, true],
    ["vendor-2", false],
  ]);
  await records[2]!.save("vendor-3");
  expect(written).toEqual([{ 0: "vendor-0", 2: "vendor-3" }]);
});

test("a new job is noted as sent before the call, and its vendor's jobs as they begin", async () => {
  const { calls, written, control } = follow(null);
  using _control = control;
  await calls.onCall!(TARGET);
  expect(calls.vendorJobs!(0)).toMatchObject({ id: null, isLost: false });
  await Promise.all([0, 1].map((call) => calls.vendorJobs!(call).save(`vendor-${call}`)));
  expect(written[0]).toEqual({ channel: "c", upstreamModel: "m" });
  expect(written.at(-1)).toEqual({ 0: "vendor-0", 1: "vendor-1" });
});

test("a job whose lease is lost is not sent", async () => {
  const { calls, control } = follow(null, false);
  using _control = control;
  await expect(calls.onCall!(TARGET)).rejects.toBeInstanceOf(LeaseLost);
});

test("the cost of a lost job is noted although its key has reached the cap, and counted once, by the worker", async () => {
  const model: ImageModel = {
    id: "m",
    type: "image",
    displayName: "M",
    ownedBy: "us",
    created: 0,
    isRetired: false,
    family: "D",
    image: {
      sizeMode: "table",
      tiers: ["1K"],
      ratios: ["1:1"],
      sizes: { "1K": { "1:1": "1024x1024" } },
      qualities: [],
      formats: ["png"],
      backgrounds: [],
      maxImagesPerCall: 4,
    },
  };
  const { core: plain, principal } = plainCore({ model, images: [noUpstream], orphanCostCap: 1n });
  const noted: bigint[] = [];
  const orphanCosts = Object.assign(plain.orphanCosts, {
    add: (_: string, cost: bigint) => void noted.push(cost),
    require: () => {
      throw new Error("the cap was applied");
    },
  });
  const lost = { ...core, ...plain, orphanCosts, blobs: null } as unknown as typeof core;
  const request = JSON.stringify({
    placeholder: "file:",
    files: [],
    request: {
      kind: "images",
      isCompressing: false,
      fields: [
        ["model", "m"],
        ["prompt", "x"],
      ],
    },
  });
  const sent = { channel: "channel-0", upstreamModel: "vendor-model", vendorJobs: {} };
  const ending = await run({ model: "m", request, sent }, principal.organization, lost);
  expect(ending).toMatchObject({ error: { type: "interrupted" }, entry: { orphanCost: 10n } });
  expect(noted).toEqual([]);
});
