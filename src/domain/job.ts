import type { ImageFormat } from "./model.ts";

/** `completed`, `failed`, `cancelled` and `expired` are end states; only `completed` turns into `expired`. */
export const JOB_STATUSES = [
  "pending",
  "in_progress",
  "completed",
  "failed",
  "cancelled",
  "expired",
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** An asynchronous image job as its organization sees it. Times are Unix milliseconds by the store's clock. */
export interface Job {
  id: string;
  organizationId: string;
  model: string;
  status: JobStatus;
  /** Lower bound of the progress. */
  stage: number;
  /** The usual duration of such a job. */
  typicalMs: number;
  createdAt: number;
  /** Start of its first vendor call. */
  startedAt: number | null;
  endedAt: number | null;
  /** Time of this reading. */
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

/** The reason why a job failed: an error code, `interrupted` or `timeout`, and a message for the caller. */
export interface JobError {
  type: string;
  message: string;
}

/** Lower bounds of the progress by stage, in percent. */
export const JOB_STAGES = { queued: 5, claimed: 10, sent: 20, storing: 95, completed: 100 } as const;

const MAX_RUNNING_PROGRESS = 90;

export function hasEnded({ status }: Pick<Job, "status">): boolean {
  return status !== "pending" && status !== "in_progress";
}

/**
 * Returns the progress from 0 to 100, which never decreases: by elapsed time over typical time while a vendor works.
 */
export function progressOf({ stage, typicalMs, startedAt, endedAt, readAt }: Job): number {
  if (startedAt === null || stage !== JOB_STAGES.sent) return stage;
  const elapsedMs = Math.max(0, (endedAt ?? readAt) - startedAt);
  const share = Math.min(1, elapsedMs / typicalMs);
  return Math.floor(JOB_STAGES.sent + share * (MAX_RUNNING_PROGRESS - JOB_STAGES.sent));
}
