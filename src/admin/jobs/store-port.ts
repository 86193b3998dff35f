import type { Job, JobStatus } from "../../domain/job.ts";
import type { ListPosition, OrganizationFilter } from "../list-page.ts";

/** A job in the form that administration sees. */
export interface JobRecord extends Job {
  keyId: string;
  /** The caller's `X-Request-Id`, or the id that the gateway generated. The job's charge has the same request id. */
  requestId: string;
  /** Unix milliseconds. */
  deadlineAt: number;
}

/** Filter of jobs; an absent field matches every job. */
interface JobFilter extends OrganizationFilter {
  keyId?: string;
  model?: string;
  statuses?: readonly JobStatus[];
  /** Earliest creation in Unix milliseconds, inclusive. */
  from?: number;
  /** Latest creation in Unix milliseconds, exclusive. */
  to?: number;
}

/** Reads jobs of all organizations. Only the folder `jobs` cancels jobs. */
export interface JobAdminStore {
  get(id: string): Promise<JobRecord | null>;
  /** Returns a page of jobs, newest first. */
  list(page: JobFilter & { below?: ListPosition; limit: number }): Promise<JobRecord[]>;
}
