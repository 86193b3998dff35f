import type { ImageFormat } from "./model.ts";

/** Statuses of jobs. All but `pending` and `in_progress` are final, except that `completed` can become `expired`. */
export const JOB_STATUSES = [
  "pending",
  "in_progress",
  "completed",
  "failed",
  "cancelled",
  "expired",
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** An asynchronous image job as its organization sees it. All times are in Unix milliseconds by the store's clock. */
export interface Job {
  id: string;
  organizationId: string;
  model: string;
  status: JobStatus;
  /** The progress in percent that the job has certainly reached. */
  stage: number;
  /** The usual duration of a job with images of the requested size tier, in milliseconds. */
  typicalMs: number;
  createdAt: number;
  /** Start of the job's first vendor call; null before this call. */
  startedAt: number | null;
  endedAt: number | null;
  /** Time at which the job was read from the store. */
  readAt: number;
  isCancelRequested: boolean;
  outputs: JobOutput[];
  error: JobError | null;
}

export interface JobOutput {
  /** Name of the stored picture. */
  name: string;
  format: ImageFormat;
}

/** The reason why a job failed: an error code, `interrupted` or `timeout`, with a message for the caller. */
export interface JobError {
  type: string;
  message: string;
}

/** The progress in percent that a job in each stage has certainly reached. */
export const JOB_STAGES = { queued: 5, claimed: 10, sent: 20, storing: 95, completed: 100 } as const;

const MAX_RUNNING_PROGRESS = 90;

export function hasEnded({ status }: Pick<Job, "status">): boolean {
  return status !== "pending" && status !== "in_progress";
}

/**
 * Returns the progress from 0 to 100, which never decreases. While a vendor works, the progress grows with the elapsed
 * time in proportion to the usual time.
 */
export function progressOf({ stage, typicalMs, startedAt, endedAt, readAt }: Job): number {
  if (startedAt === null || stage !== JOB_STAGES.sent) return stage;
  const elapsedMs = Math.max(0, (endedAt ?? readAt) - startedAt);
  const share = Math.min(1, elapsedMs / typicalMs);
  return Math.floor(JOB_STAGES.sent + share * (MAX_RUNNING_PROGRESS - JOB_STAGES.sent));
}
