import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { hasEnded, JOB_STATUSES } from "../../domain/job.ts";
import { AdminError } from "../admin-error.ts";
import { requireRunning, type AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import type { JobRecord } from "./store-port.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { pageFields, readCursor, toPage, type Page } from "../paging.ts";
import { inputError, listed } from "../../domain/schema-problems.ts";

/** Returns jobs, newest first. */
export async function listJobs(
  context: AdminContext,
  input: z.output<typeof jobListSchema>,
): Promise<Page<JobRecord>> {
  const { cursor, limit, status, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, statuses: status, below: readCursor(cursor), limit: limit + 1 };
  return toPage(await context.store.jobs.list(page), limit);
}

/** Returns a job, or throws 404. */
export async function getJob({ store }: AdminContext, id: string): Promise<JobRecord> {
  const job = await store.jobs.get(id);
  if (!job) throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "job", id }));
  return job;
}

/**
 * Cancels a job: immediately while it waits, and as far as possible while it runs. Throws 409 when the job has ended in
 * another way.
 */
export async function cancelJob(context: AdminContext, id: string): Promise<JobRecord> {
  const running = requireRunning(context);
  const { organizationId } = await getJob(context, id);
  const job = await running.cancelJob(organizationId, id);
  if (job && hasEnded(job) && job.status !== "cancelled")
    throw new AdminError(409, "id", operatorMessage("error.job.ended", { status: job.status }));
  return await getJob(context, id);
}

const statusSchema = z.enum(JOB_STATUSES);

const jobFilterSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  status: z
    .union([z.array(statusSchema), z.string().transform((text) => text.split(","))], {
      error: inputError("input.values", { values: listed(statusSchema.options) }),
    })
    .pipe(z.array(statusSchema))
    .optional()
    .describe("One or more of them, separated by commas"),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional(),
});

export const jobListSchema = jobFilterSchema.extend(pageFields);
