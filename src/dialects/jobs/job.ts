import { hasEnded, progressOf, type Job, type JobOutput, type JobStatus } from "../../domain/job.ts";

const MIME_TYPES = { png: "image/png", jpeg: "image/jpeg", webp: "image/webp" } as const;

const MESSAGES: Readonly<Record<JobStatus, string>> = {
  pending: "Queued",
  in_progress: "Generating",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  expired: "Expired",
};

/** Returns the seconds until a client should read the job again; null for an ended job. */
export function retryAfterSeconds(job: Job): number | null {
  return hasEnded(job) ? null : POLL_SECONDS;
}

const POLL_SECONDS = 3;

/** Writes a job. `linkOf` returns the link to an output. Times are in Unix milliseconds. */
export function writeJob(job: Job, linkOf: (name: string) => string): object {
  const { id, status, model, createdAt, startedAt, endedAt, outputs, error } = job;
  return {
    id,
    status,
    model,
    create_time: createdAt,
    started_at: startedAt,
    completed_at: endedAt,
    progress: progressOf(job),
    progress_message: messageOf(job),
    outputs_count: outputs.length,
    outputs: outputs.map(({ name, format }: JobOutput) => ({
      url: linkOf(name),
      mime_type: MIME_TYPES[format],
    })),
    execution_error: error,
  };
}

function messageOf({ status, stage, isCancelRequested }: Job): string {
  if (status === "in_progress" && isCancelRequested) return "Cancelling";
  if (status === "in_progress" && stage > STORING) return "Storing";
  return MESSAGES[status];
}

const STORING = 90;
