import type { Job, JobStatus } from "../../domain/job.ts";
import type { ListPosition, OrganizationFilter } from "../list-page.ts";

/** A job as administration sees it. */
export interface JobRecord extends Job {
  keyId: string;
  /** The caller's `X-Request-Id`, or the id that the gateway generated; its charge names it. */
  requestId: string;
  /** Unix milliseconds. */
  deadlineAt: number;
}

/** Filter of jobs; an absent field matches every job. */
interface JobFilter extends OrganizationFilter {
  keyId?: string;
  model?: string;
  statuses?: readonly JobStatus[];
  /** Unix milliseconds of the creation, inclusive. */
  from?: number;
  /** Exclusive. */
  to?: number;
}

/** Reads jobs of all organizations. Only the `jobs` folder cancels them. */
export interface JobAdminStore {
  get(id: string): Promise<JobRecord | null>;
  /** Newest first. */
  list(page: JobFilter & { below?: ListPosition; limit: number }): Promise<JobRecord[]>;
}
