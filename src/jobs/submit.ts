import { FAMILIES } from "../domain/family.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { Job } from "../domain/job.ts";
import type { SizeTier } from "../domain/usage.ts";
import { admitImages, ignoredParams } from "../gateway/admission/admit-images.ts";
import { limitOf } from "../gateway/admission/limit-grant.ts";
import { requireStorage, type ImageCore } from "../gateway/images.ts";
import { refusedHold } from "../gateway/metering/billing.ts";
import { checkReferences } from "../gateway/references.ts";
import type { RequestContext } from "../gateway/request-context.ts";
import { readLink } from "../lib/safe-fetch.ts";
import { newId } from "../lib/ids.ts";
import { sleep } from "../lib/waiting.ts";
import { coreOf, JobBilling } from "./job-billing.ts";
import type { JobStore, NewJob, Submission } from "./ports.ts";
import type { WebhookQueue } from "./webhook-ports.ts";
import { readJobRequest, removeBlobs, writeStoredRequest, type JobRequest } from "./stored-request.ts";
import { countText } from "../lib/count-text.ts";

export interface JobCore extends ImageCore {
  jobs: JobStore;
  webhooks: Pick<WebhookQueue, "isSigned">;
  /** Returns the maximum time from a job's submission to its end, in milliseconds. */
  deadlineMs(): number;
  /** Makes the worker of this process look for work immediately. */
  wake(): void;
  /** Cancels the job if it runs in this process. */
  stopJob(jobId: string): void;
}

interface JobSubmission {
  request: JobRequest;
  webhookUrl: string | null;
  linkBase: string;
  idempotency: { key: string; fingerprint: string } | null;
}

/** Typical durations of a job in milliseconds, by size tier: the middle of the usual range. */
const TYPICAL_MS: Record<SizeTier, number> = { "1K": 25_000, "2K": 60_000, "4K": 240_000 };
/** Maximum number of attempts to hold the money. Other processes return unused money within half a second. */
const MAX_HOLD_ATTEMPTS = 8;
const HOLD_SLEEP_MS = 100;
const FULL_RETRY_SECONDS = 5;
/** Time after which the transaction of a failed submission has certainly been committed or rolled back. */
const UNDECIDED_MS = 5_000;

/**
 * Accepts a job: admits it like a synchronous request, stores its files, queues it and holds its money. Also returns
 * the names of ignored fields. Throws a `GatewayError`.
 */
export async function submitJob(
  core: JobCore,
  context: RequestContext,
  { request, webhookUrl, linkBase, idempotency }: JobSubmission,
): Promise<{ job: Job; ignored: string[] }> {
  const { principal } = context;
  const { key, organization } = principal;
  // A repeated submission is looked up before it is admitted, because the first submission may have used up the limits.
  const submitted = idempotency && (await core.jobs.findSubmitted(key.id, idempotency));
  if (submitted) return { job: accepted(submitted), ignored: [] };
  const images = await readJobRequest(request);
  requireStorage(core, context, images);
  if (webhookUrl !== null) await requireWebhook(core, organization.id, webhookUrl);
  const billing = JobBilling.forSubmission(principal);
  using admission = await admitImages(coreOf(core, billing), context, images);
  const { model, price, admittedAt } = admission.admitted;
  await checkReferences(core, images, FAMILIES[model.family].mask);
  const { text, names } = await writeStoredRequest(request, core.blobs, organization.id);
  const own = core.limits.organization;
  const job: NewJob = {
    id: newId("job"),
    organizationId: organization.id,
    keyId: key.id,
    requestId: context.requestId,
    model: model.id,
    typicalMs: TYPICAL_MS[admission.fitted.priceTier],
    deadlineMs: core.deadlineMs(),
    webhookUrl,
    linkBase,
    idempotency,
    terms: {
      admittedAt,
      price,
      ceiling: billing.ceiling,
      budgets: billing.budgets,
      source: context.source,
      client: context.client,
    },
    request: text,
    files: names,
    queuedLimit: {
      organization: limitOf(organization.limits.queuedJobs, own.queuedJobs),
      key: limitOf(key.limits.queuedJobs, core.limits.key.queuedJobs),
    },
    keyRunningLimit: limitOf(key.limits.runningJobs, core.limits.key.runningJobs),
  };
  const result = await submitHeld(core.jobs, job).catch((error: unknown) => {
    void removeUnlessSubmitted(core, job);
    throw error;
  });
  if (result.kind !== "accepted") await removeBlobs(core.blobs, names);
  const taken = accepted(result);
  if (result.kind === "accepted") core.wake();
  return { job: taken, ignored: [...ignoredParams(images, admission.fitted)] };
}

/** Throws when the webhook's address is not allowed or the organization has no secret for signing messages. */
async function requireWebhook(
  { webhooks }: JobCore,
  organizationId: string,
  webhookUrl: string,
): Promise<void> {
  const param = "webhook_url";
  if (!readLink(webhookUrl)) {
    const message = "`webhook_url` must be an https link to a public address.";
    throw new GatewayError("invalid_parameter", message, { param });
  }
  if (await webhooks.isSigned(organizationId)) return;
  const message = "Your organization has no secret for `webhook_url` yet. An operator can create one.";
  throw new GatewayError("unsupported_parameter", message, { param });
}

/** Submits a job. Waits briefly and tries again if other processes hold the rest of a budget. */
async function submitHeld(jobs: JobStore, job: NewJob): Promise<Submission> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await jobs.submit(job);
    if (result.kind !== "exhausted" || result.reason === "spent" || attempt === MAX_HOLD_ATTEMPTS)
      return result;
    await sleep(HOLD_SLEEP_MS);
  }
}

/**
 * Removes the files of a failed submission. First waits, then looks up the job, because a failed call may still have
 * committed the job. If the job exists or the store is unavailable, the files stay.
 */
async function removeUnlessSubmitted({ jobs, blobs }: JobCore, job: NewJob): Promise<void> {
  if (job.files.length === 0) return;
  await sleep(UNDECIDED_MS);
  const isKept = await jobs.get(job.organizationId, job.id).then(
    (found) => found !== null,
    () => true,
  );
  if (!isKept) await removeBlobs(blobs, job.files);
}

function accepted(result: Submission): Job {
  switch (result.kind) {
    case "accepted":
    case "known":
      return result.job;
    case "other": {
      const message = "This idempotency key was used with another request.";
      const detail = { param: "Idempotency-Key", shouldRetry: false } as const;
      throw new GatewayError("idempotency_conflict", message, detail);
    }
    case "exhausted":
      throw refusedHold(result.reason);
    case "full":
      throw full(result);
  }
}

function full({ scope, limit }: { scope: "organization" | "key"; limit: number }): GatewayError {
  const name = `${scope === "key" ? "This key's" : "Your organization's"} limit of ${countText(limit, "queued job")}`;
  if (limit === 0)
    return new GatewayError("rate_limit_exceeded", `${name} admits nothing.`, { shouldRetry: false });
  const message = `${name} is reached. Submit more when some of them have been started.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: FULL_RETRY_SECONDS });
}
