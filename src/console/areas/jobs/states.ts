import type { Output } from "../../api/call.ts";
import type { StatusLevel } from "../../ui/text/status.tsx";

export type JobRow = Output<"jobs.list">["data"][number];
type JobState = JobRow["status"];

export const STATES: Readonly<Record<JobState, StatusLevel>> = {
  pending: "unknown",
  in_progress: "busy",
  completed: "good",
  failed: "bad",
  cancelled: "off",
  expired: "off",
};

export const STATUSES = [
  "pending",
  "in_progress",
  "completed",
  "failed",
  "cancelled",
  "expired",
] as const satisfies readonly JobState[];

/** True while the job waits or runs; only then can it be cancelled. */
export function isLive({ status }: Pick<JobRow, "status">): boolean {
  return status === "pending" || status === "in_progress";
}

/** Returns the milliseconds from a job's submission to its end, or until now. */
export function durationOf({ createdAt, endedAt }: JobRow, now: number): number {
  return Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt));
}
