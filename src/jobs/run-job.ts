import type { Principal } from "../domain/api-key.ts";
import type { Organization } from "../domain/organization.ts";
import type { Target } from "../domain/channel.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { VendorJobRecord } from "../domain/image.ts";
import type { JobError } from "../domain/job.ts";
import { NO_LIMITS } from "../domain/limits.ts";
import { admitImages } from "../gateway/admission/admit-images.ts";
import { LimitGrant } from "../gateway/admission/limit-grant.ts";
import { asGatewayError } from "../gateway/failure.ts";
import { abandon, type ImageCore, type ImageRun, makeImages } from "../gateway/images.ts";
import { OrphanCosts } from "../gateway/metering/billing.ts";
import { newRequestFacts, type RequestContext } from "../gateway/request-context.ts";
import type { Spool } from "../lib/spool.ts";
import { coreOf, JobBilling } from "./job-billing.ts";
import type { ClaimedJob, JobEnding, JobStore } from "./ports.ts";
import { capacityWaitMs, retryWhileUnavailable, type RunControl, waitForCapacity } from "./run-control.ts";
import { readJobRequest, readStoredRequest } from "./stored-request.ts";

interface JobRun {
  job: ClaimedJob;
  core: ImageCore & { jobs: JobStore };
  context: RequestContext;
  control: RunControl;
  spool: Spool;
}

/** The worker has lost the lease: another worker has the job, or the job has ended. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * Runs a claimed job with the image pipeline of the synchronous endpoints. Returns the ending of the job. A job that a
 * vendor already has is polled to its end. A job that was possibly sent but cannot be polled is not sent again, unless
 * a repeated call costs nothing. Throws `LeaseLost` when a write finds that the lease is lost. Once
 * `control.isHandedOver` is true, it may throw any error.
 */
export async function runJob(claimed: JobRun): Promise<JobEnding> {
  const run = isRepeatable(claimed) ? { ...claimed, job: { ...claimed.job, sent: null } } : claimed;
  const { job, context, control } = run;
  const billing = new JobBilling(job.terms.budgets);
  const failed = (error: JobEnding["error"]): JobEnding => ({
    status: "failed",
    outputs: [],
    error,
    entry: billing.entry,
  });
  const cancelled = (): JobEnding => ({
    status: "cancelled",
    outputs: [],
    error: null,
    entry: billing.entry,
  });
  try {
    // A cancelled job without a vendor's work ends without a run.
    if (control.isCancelled && !job.sent) return cancelled();
    if (job.sent && Object.keys(job.sent.vendorJobs).length === 0) {
      await recordLoss(run, billing);
      return control.isCancelled ? cancelled() : failed(INTERRUPTED);
    }
    const isDisabled = !job.isKeyUsable || context.principal.organization.isDisabled;
    if (isDisabled && !job.sent) throw disabled();
    const outputs = await waitForCapacity(
      () => makeOutputs(run, billing),
      (error) =>
        control.isCancelled ? null : capacityWaitMs(error, context.attempts.length, job.sent === null),
      control.signal,
    );
    return { status: "completed", outputs, error: null, entry: billing.entry };
  } catch (error) {
    if (error instanceof LeaseLost || control.isHandedOver) throw error;
    if (control.isCancelled) return cancelled();
    if (control.isOverdue) return failed(TIMED_OUT);
    return failed(executionError(error));
  }
}

/** True when the call of an earlier worker may be repeated, because a repeated call costs nothing. */
function isRepeatable({ job: { sent }, core }: JobRun): boolean {
  const channel = sent && core.snapshot.directory().channels.get(sent.channel);
  return channel ? core.upstreams.image(channel)?.isRepeatable === true : false;
}

async function makeOutputs(run: JobRun, billing: JobBilling): Promise<JobEnding["outputs"]> {
  const { job, context, spool, control } = run;
  control.signal.throwIfAborted();
  const core = runningCoreOf(run.core, billing);
  const request = await readJobRequest(await readStoredRequest(job.request, core.blobs, spool));
  using admission = await admitImages(core, context, request, job.terms);
  const surroundings = { base: "", spool, run: followCalls(run) };
  const { delivery } = await makeImages(core, admission, request, surroundings);
  return delivery.images.flatMap(({ name }) =>
    name === undefined ? [] : [{ name, format: delivery.format }],
  );
}

/**
 * Returns a copy of the core for a running job. The copy does not check the cap on orphan costs, because the submission
 * has checked it. At the end the worker counts the job's orphan cost towards the cap.
 */
function runningCoreOf<OfCore extends ImageCore>(core: OfCore, billing: JobBilling): OfCore {
  return { ...coreOf(core, billing), orphanCosts: new OrphanCosts(null, core.clock) };
}

/** Returns callbacks that store each vendor call before it is made, and the id of a vendor's job once it is known. */
export function followCalls({ job, core, control }: Pick<JobRun, "job" | "core" | "control">): ImageRun {
  const { sent } = job;
  const require = async (write: () => Promise<boolean>): Promise<void> => {
    if (!(await retryWhileUnavailable(write, () => control.signal.aborted)))
      throw new LeaseLost("another worker has the job, or it has ended");
  };
  let target = { channel: sent?.channel ?? "", upstreamModel: sent?.upstreamModel ?? "" };
  let vendorJobs: Record<string, string> = { ...sent?.vendorJobs };
  /** The last write of ids. The next write waits for it, so that an older list never replaces a newer list. */
  let last: Promise<void> = Promise.resolve();
  return {
    isTarget: ({ channel, upstreamModel }) =>
      sent === null || (channel.id === sent.channel && upstreamModel === sent.upstreamModel),
    async onCall({ channel, upstreamModel }: Target) {
      control.signal.throwIfAborted();
      if (sent) return;
      target = { channel: channel.id, upstreamModel };
      vendorJobs = {};
      await require(() => core.jobs.send(job, target));
    },
    onStore: () => require(() => core.jobs.store(job)),
    vendorJobs(call): VendorJobRecord {
      control.beforePoll();
      return {
        id: sent?.vendorJobs[call] ?? null,
        isLost: sent !== null && sent.vendorJobs[call] === undefined,
        save(id) {
          vendorJobs[call] = id;
          last = last.then(() => require(() => core.jobs.rememberVendorJobs(job, { ...target, vendorJobs })));
          return last;
        },
        isHandedOver: () => control.isHandedOver,
      };
    },
  };
}

/** Records the estimated cost of a call that was possibly sent and cannot be polled, if its channel still exists. */
async function recordLoss({ job, core: plain, context, spool }: JobRun, billing: JobBilling): Promise<void> {
  const core = runningCoreOf(plain, billing);
  const channel = job.sent && core.snapshot.directory().channels.get(job.sent.channel);
  if (!job.sent || !channel) return;
  const request = await readJobRequest(await readStoredRequest(job.request, core.blobs, spool));
  using admission = await admitImages(core, context, request, job.terms);
  abandon(admission, { channel, upstreamModel: job.sent.upstreamModel, weight: 1 }, request);
}

/** Returns a request context for the caller of the job, with the organization's current settings. */
export function contextOfJob(
  core: ImageCore,
  job: ClaimedJob,
  organization: Organization,
  signal: AbortSignal,
): RequestContext {
  const principal: Principal = {
    // Vendor calls of a cancelled job are aborted (`callerGone`), because no client waits for them.
    organization: {
      ...organization,
      limits: {},
      settings: { ...organization.settings, callerGone: "abort" },
    },
    key: {
      id: job.keyId,
      organizationId: job.organizationId,
      name: "",
      prefix: "",
      scopes: new Set(["ai:image"]),
      models: "*",
      addresses: null,
      limits: {},
      budgets: [],
      isDisabled: !job.isKeyUsable,
      refuseIgnored: false,
      expiresAt: null,
    },
  };
  // This grant counts nothing, because the limits have counted the request at its submission.
  const grant = new LimitGrant(core.limiter, { organization: NO_LIMITS, key: NO_LIMITS }, principal);
  const { jobId: id, requestId } = job;
  const { source, client } = job.terms;
  const facts = newRequestFacts();
  // Ignored fields do not fail the run, because the submission has refused them or named them in its response.
  const isStrict = false;
  return {
    id,
    requestId,
    principal,
    source,
    client,
    grant,
    signal,
    isOutcomeKept: false,
    isStrict,
    attempts: [],
    facts,
  };
}

function disabled(): GatewayError {
  const message =
    "The key of this job was disabled or has expired, or its organization was disabled, before it was run.";
  return new GatewayError("authentication_required", message);
}

const INTERRUPTED: JobError = {
  type: "interrupted",
  message: "The gateway was interrupted while the model worked. Nothing is billed. Submit the job again.",
};

const TIMED_OUT: JobError = {
  type: "timeout",
  message: "The job did not end before its deadline. Nothing is billed. Submit it again.",
};

/** Returns the error for the caller, with the code and message of a synchronous request's error. */
function executionError(thrown: unknown): JobError {
  const { code, message } = asGatewayError(thrown);
  return { type: code, message };
}
