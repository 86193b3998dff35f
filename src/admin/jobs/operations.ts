import { z } from "zod";
import { JOB_STATUSES, progressOf } from "../../domain/job.ts";
import type { JobRecord } from "./store-port.ts";
import { cancelJob, getJob, jobListSchema, listJobs } from "./jobs.ts";
import { operation } from "../operation.ts";
import { timeCodec, pageOf } from "../output.ts";

const jobSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  keyId: z.string(),
  requestId: z.string().describe("X-Request-Id of its submission; its charge names it"),
  model: z.string(),
  status: z.enum(JOB_STATUSES),
  progress: z.int().describe("0 to 100"),
  isCancelRequested: z.boolean(),
  images: z.int().describe("Pictures that it has delivered"),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
  createdAt: timeCodec,
  startedAt: timeCodec.nullable().describe("When its first vendor call was sent"),
  endedAt: timeCodec.nullable(),
  deadlineAt: timeCodec,
});

const idSchema = z.strictObject({ id: z.string() });

export const jobOperations = {
  "jobs.list": operation({
    method: "GET",
    path: "/jobs",
    summary: "Jobs, newest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: jobListSchema,
    output: pageOf(jobSchema),
    async run(context, input) {
      const { data, next } = await listJobs(context, input);
      return { data: data.map(toJobView), next };
    },
  }),
  "jobs.get": operation({
    method: "GET",
    path: "/jobs/{id}",
    summary: "One job",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: jobSchema,
    run: async (context, { id }) => toJobView(await getJob(context, id)),
  }),
  "jobs.cancel": operation({
    method: "POST",
    path: "/jobs/{id}/cancel",
    summary: "Cancel a job: at once while it waits, as far as possible while it runs",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: jobSchema,
    run: async (context, { id }) => toJobView(await cancelJob(context, id)),
  }),
};

function toJobView(job: JobRecord): z.output<typeof jobSchema> {
  return { ...job, progress: progressOf(job), images: job.outputs.length };
}
