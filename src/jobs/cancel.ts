import { GatewayError } from "../domain/gateway-error.ts";
import { hasEnded, type Job, type JobStatus } from "../domain/job.ts";
import type { BlobStore } from "../gateway/delivery/stored-blobs.ts";
import type { JobStore } from "./ports.ts";
import { removeBlobs } from "./stored-request.ts";

interface Cancellation {
  jobs: JobStore;
  blobs: BlobStore;
  /** Cancels the job if it runs in this process. */
  stopJob(jobId: string): void;
}

/** Cancels a job that has not ended. A running job ends soon afterwards. Returns null for an unknown job. */
export async function requestCancel(
  { jobs, blobs, stopJob }: Cancellation,
  organizationId: string,
  id: string,
): Promise<Job | null> {
  const cancelled = await jobs.cancel(organizationId, id);
  if (!cancelled) return null;
  const { job, files } = cancelled;
  if (job.status === "in_progress") stopJob(id);
  await removeBlobs(blobs, files);
  return job;
}

/** Throws `job_already_ended` for a job that ended in any way other than by cancellation. */
export function requireCancelled(job: Job): void {
  if (isCancellable(job)) return;
  const message = `The job has ended already: it is ${job.status}.`;
  throw new GatewayError("job_already_ended", message);
}

interface CancelResult {
  id: string;
  cancelled: boolean;
  status?: JobStatus;
  error?: { type: string; message: string };
}

/** Cancels several jobs. Returns one result for each id, in the order of the ids. */
export async function cancelAll(
  cancellation: Cancellation,
  organizationId: string,
  ids: readonly string[],
): Promise<CancelResult[]> {
  const results: CancelResult[] = [];
  for (const id of ids) {
    const job = await requestCancel(cancellation, organizationId, id);
    results.push(job ? resultOf(job) : unknown(id));
  }
  return results;
}

function resultOf(job: Job): CancelResult {
  const { id, status } = job;
  if (isCancellable(job)) return { id, cancelled: true, status };
  const error = { type: "job_already_ended", message: `The job has ended already: it is ${status}.` };
  return { id, cancelled: false, status, error };
}

function unknown(id: string): CancelResult {
  return { id, cancelled: false, error: { type: "not_found", message: "There is no job with this id." } };
}

function isCancellable(job: Job): boolean {
  return job.status === "cancelled" || !hasEnded(job);
}
