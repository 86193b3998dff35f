import { z } from "zod";
import { sendJson } from "./transport.ts";
import {
  megapixelOf,
  readJsonBody,
  startVendor,
  type ErrorRow,
  type ErrorRows,
  type VendorCall,
} from "./error-rows.ts";
import { readInlineImage } from "./inline-image.ts";
import { createJobs, type SimulatedJob, type SimulatedJobs } from "./jobs.ts";
import { makePicture } from "./picture.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "sk-simulated0123456789abcdef01234567";

const REQUEST_ID = "7a270c86-db58-9faf-b403-0123456789ab";
const problem = (status: number, code: string, message: string): ErrorRow => ({
  status,
  body: { code, message, request_id: REQUEST_ID },
});

/** The vendor's table of errors (Model Studio error codes). */
export const ROWS: ErrorRows = {
  InvalidParameter: problem(400, "InvalidParameter", "The size is not supported."),
  "InvalidParameter.DataInspection": problem(
    400,
    "InvalidParameter.DataInspection",
    "Unable to download the media.",
  ),
  IPInfringementSuspect: problem(
    400,
    "IPInfringementSuspect",
    "Input data is suspected of being involved in IP.",
  ),
  DataInspectionFailed: problem(400, "DataInspectionFailed", "Input data may contain inappropriate content."),
  data_inspection_failed: problem(
    400,
    "data_inspection_failed",
    "Output data may contain inappropriate content.",
  ),
  Arrearage: problem(400, "Arrearage", "Access denied, please make sure your account is in good standing."),
  InvalidApiKey: problem(401, "InvalidApiKey", "Invalid API-key provided."),
  "AccessDenied.Unpurchased": problem(403, "AccessDenied.Unpurchased", "Access to model denied."),
  ModelNotFound: problem(404, "ModelNotFound", "Model can not be found."),
  Throttling: problem(429, "Throttling", "Requests throttling triggered."),
  "Throttling.RateQuota": problem(
    429,
    "Throttling.RateQuota",
    "Requests rate limit exceeded, please try again later.",
  ),
  "Throttling.AllocationQuota": problem(429, "Throttling.AllocationQuota", "Allocated quota exceeded."),
  UnsupportedOperation: problem(400, "UnsupportedOperation", "Failed to cancel the task."),
  InternalError: problem(500, "InternalError", "An internal error has occured, please try again later."),
  "InternalError.Algo": problem(500, "InternalError.Algo", "Inference error."),
  ServiceUnavailable: problem(503, "ServiceUnavailable", "Try again later."),
  Unknown: problem(418, "NewCode", "Something new."),
  echo: problem(
    400,
    "InvalidParameter",
    `Bad header Authorization: Bearer ${SIMULATED_KEY}. Send another one.`,
  ),
};

const PATH = "/api/v1/services/aigc/multimodal-generation/generation";
const TASK_PATH = "/api/v1/services/aigc/image-generation/generation";
const TASKS = "/api/v1/tasks/";

const part = z.union([z.strictObject({ image: z.string() }), z.strictObject({ text: z.string().min(1) })]);
const body = z.strictObject({
  model: z.string(),
  input: z.strictObject({
    messages: z.tuple([z.strictObject({ role: z.literal("user"), content: z.array(part).min(1) })]),
  }),
  parameters: z
    .strictObject({
      size: z
        .string()
        .regex(/^\d+\*\d+$/)
        .optional(),
      n: z.int().min(1).max(6).optional(),
      negative_prompt: z.string().optional(),
      prompt_extend: z.boolean().optional(),
      watermark: z.boolean().optional(),
      seed: z.int().optional(),
    })
    .default({}),
});

interface Model {
  /** Minimum of references. */
  least: number;
  hasSize: boolean;
  takes(width: number, height: number): boolean;
}

const onEdges = (edge: number) => edge >= 512 && edge <= 2048 && edge % 16 === 0;
const EDIT: Model = { least: 1, hasSize: true, takes: (width, height) => onEdges(width) && onEdges(height) };
const BOTH: Model = {
  least: 0,
  hasSize: true,
  takes: (width, height) => width * height >= 512 ** 2 && width * height <= 2048 ** 2,
};
const MODELS: Readonly<Record<string, Model>> = {
  "qwen-image-edit": { ...EDIT, hasSize: false },
  "qwen-image-edit-plus": EDIT,
  "qwen-image-edit-max": EDIT,
  "qwen-image-2.0": BOTH,
  "qwen-image-2.0-pro": BOTH,
};

interface Made {
  width: number;
  height: number;
  count: number;
  behaviour: VendorCall["behaviour"];
}
type Tasks = SimulatedJobs<Made>;

/** A simulated Model Studio that refuses what the vendor refuses. The base address for a channel is `{url}/api/v1`. */
export async function startDashscope(): Promise<Simulator & { jobs: Tasks }> {
  const jobs: Tasks = createJobs();
  const simulator = await startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["authorization"] !== `Bearer ${SIMULATED_KEY}`) return call.refuse("InvalidApiKey");
    if (path.startsWith(TASKS)) return handleTask(call, jobs);
    if (method !== "POST" || (path !== PATH && path !== TASK_PATH)) return call.refuse("ModelNotFound");
    // One path accepts only tasks, the other path accepts no tasks.
    const isTask = headers["x-dashscope-async"] === "enable";
    return isTask === (path === TASK_PATH)
      ? handleCall(call, isTask ? jobs : null)
      : call.refuse("InvalidParameter");
  });
  return Object.assign(simulator, { jobs });
}

async function handleCall(call: VendorCall, jobs: Tasks | null): Promise<void> {
  const { request, refuse } = call;
  const read = body.safeParse(readJsonBody(request)).data;
  if (!read) return refuse("InvalidParameter");
  const model = MODELS[read.model];
  if (!model) return refuse("ModelNotFound");
  const { size, n = 1 } = read.parameters;
  const { content } = read.input.messages[0];
  const images = await Promise.all(
    content.flatMap((part) => ("image" in part ? [readInlineImage(part.image)] : [])),
  );
  const [width = 0, height = 0] = size?.split("*").map(Number) ?? [];
  const isLegal =
    content.length - images.length === 1 &&
    images.length >= model.least &&
    images.length <= 3 &&
    images.every((image) => image !== null && image.bytes.byteLength <= 10 * 1024 * 1024) &&
    (model.hasSize || (size === undefined && n === 1)) &&
    (size === undefined || model.takes(width, height));
  if (!isLegal) return refuse("InvalidParameter");
  const pixels = size === undefined ? megapixelOf(undefined, images.at(-1), 16) : { width, height };
  const { behaviour, response } = call;
  const made = { ...pixels, count: behaviour.fault === "no-images" ? 0 : (behaviour.images ?? n), behaviour };
  if (!jobs) return await sendPictures(made, call);
  const output = { task_id: jobs.open(behaviour, made).id, task_status: "PENDING" };
  await sendJson(response, 200, { output, request_id: REQUEST_ID }, behaviour);
}

/** Handles `GET /tasks/{id}` and `POST /tasks/{id}/cancel`. Only a task that does not run yet can be cancelled. */
async function handleTask(call: VendorCall, jobs: Tasks): Promise<void> {
  const { method, path } = call.request;
  const [id, act] = path.slice(TASKS.length).split("/");
  const job = jobs.find(id);
  if (method === "POST" && act === "cancel") {
    if (!job || job.polled > 0) return call.refuse("UnsupportedOperation");
    job.isCancelled = true;
    return await sendJson(call.response, 200, { request_id: REQUEST_ID });
  }
  if (method !== "GET" || act !== undefined) return call.refuse("ModelNotFound");
  if (!job) return await sendTask(call, id ?? "", { task_status: "UNKNOWN" });
  if (job.isCancelled) return await sendTask(call, job.id, { task_status: "CANCELED" });
  if (!job.poll()) return await sendTask(call, job.id, { task_status: "RUNNING" });
  await sendEnd(call, job);
}

async function sendEnd(call: VendorCall, job: SimulatedJob<Made>): Promise<void> {
  const { outcome } = job;
  if (outcome === undefined || outcome === "done") return await sendPictures(job.output, call, job.id);
  if (outcome === outcome.toUpperCase()) return await sendTask(call, job.id, { task_status: outcome });
  const { code, message } = Object(ROWS[outcome]?.body);
  await sendTask(call, job.id, { task_status: "FAILED", code, message });
}

async function sendTask({ response }: VendorCall, id: string, status: object): Promise<void> {
  await sendJson(response, 200, { output: { task_id: id, ...status }, request_id: REQUEST_ID });
}

async function sendPictures(
  { width, height, count, behaviour }: Made,
  { response, exchange, results, origin }: VendorCall,
  task?: string,
): Promise<void> {
  const picture = await makePicture(width, height, "png");
  const content = Array.from({ length: count }, (_, index) => ({
    image: origin + results.keep(picture, "png", index === 0 ? behaviour.linkBehaviours : []),
  }));
  const usage = { image_count: count, width, height };
  const choice = { finish_reason: "stop", message: { role: "assistant", content } };
  const status = task === undefined ? {} : { task_id: task, task_status: "SUCCEEDED" };
  const output = { ...status, choices: [choice] };
  await sendJson(
    response,
    200,
    { output, usage, request_id: REQUEST_ID },
    task === undefined ? behaviour : {},
  );
  if (!response.isFinished) return;
  exchange.reportPictures(count);
  exchange.reportUsage(usage);
}
