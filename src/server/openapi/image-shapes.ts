import { z } from "zod";
import { JOB_STATUSES } from "../../domain/job.ts";

/* The published schemas of picture responses and of jobs. The dialects publish the schemas of picture requests. */

const detailsSchema = z.object({ text_tokens: z.int(), image_tokens: z.int() });

export const imageResponse = z.object({
  created: z.int(),
  model: z.string(),
  size: z.string(),
  quality: z.string().optional(),
  output_format: z.enum(["png", "jpeg", "webp"]),
  background: z.string().optional(),
  data: z.array(
    z.object({
      url: z.string().optional(),
      b64_json: z.string().optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
  usage: z
    .object({
      input_tokens: z.int(),
      input_tokens_details: detailsSchema.optional(),
      output_tokens: z.int(),
      output_tokens_details: detailsSchema.optional(),
      total_tokens: z.int(),
    })
    .optional(),
});

export const job = z.object({
  id: z.string(),
  status: z.enum(JOB_STATUSES),
  model: z.string(),
  create_time: z.int().describe("Unix milliseconds"),
  started_at: z.int().nullable(),
  completed_at: z.int().nullable(),
  progress: z.int().min(0).max(100),
  progress_message: z.string(),
  outputs_count: z.int(),
  outputs: z.array(z.object({ url: z.string(), mime_type: z.string() })),
  execution_error: z.object({ type: z.string(), message: z.string() }).nullable(),
});

export const jobList = z.object({
  jobs: z.array(job),
  pagination: z.object({ offset: z.int(), limit: z.int(), has_more: z.boolean() }),
});

export const jobListQuery = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
  status: z.string().optional().describe("One or more of them, separated by commas"),
  created_from: z.int().optional().describe("Unix milliseconds, inclusive"),
  created_to: z.int().optional().describe("Unix milliseconds, exclusive"),
});

export const jobQuery = z.object({ cancel: z.enum(["true"]).optional().describe("Cancels the job") });

export const cancellation = z.object({ cancelled: z.boolean() });

export const cancelRequest = z.looseObject({ job_ids: z.array(z.string()).min(1).max(100) });

export const cancelResponse = z.object({
  cancelled: z.boolean().describe("True when every job was cancelled"),
  results: z.array(
    z.object({
      id: z.string(),
      cancelled: z.boolean(),
      status: z.enum(JOB_STATUSES).optional(),
      error: z.object({ type: z.string(), message: z.string() }).optional(),
    }),
  ),
});
