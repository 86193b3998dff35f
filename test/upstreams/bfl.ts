import { z } from "zod";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { sendJson } from "./transport.ts";
import { megapixelOf, readJsonBody, startVendor, type ErrorRows, type VendorCall } from "./error-rows.ts";
import { createJobs, type SimulatedJobs } from "./jobs.ts";
import { makePicture } from "./picture.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "bfl-simulated-0123-4567-89abcdef0123";

const problem = (message: string, type: string, field: string) => ({
  detail: [{ loc: ["body", field], msg: message, type }],
});

/** The vendor's table of errors (BFL API reference, errors). */
export const ROWS: ErrorRows = {
  "bad-request": { status: 400, body: { detail: "Bad request." } },
  "no-credits": { status: 402, body: { detail: "Insufficient credits. See https://api.bfl.ai." } },
  unauthorized: { status: 403, body: { detail: "Not authenticated - Invalid Authentication" } },
  "unknown-model": { status: 404, body: { detail: "Not Found" } },
  invalid: { status: 422, body: problem("Value is not a valid choice.", "value_error", "prompt") },
  "too-many-tasks": { status: 429, body: { detail: "Too many active tasks: 24." } },
  broken: { status: 500, body: { detail: "Internal Server Error" } },
  overloaded: { status: 503, body: { detail: "Service Unavailable" } },
  echo: { status: 400, body: { detail: `Bad header x-key: ${SIMULATED_KEY}. Send another one.` } },
};

const reference = z.base64();
const common = {
  prompt: z.string(),
  seed: z.int().optional(),
  prompt_upsampling: z.boolean().optional(),
  webhook_url: z.url().optional(),
  webhook_secret: z.string().optional(),
  input_image: reference.optional(),
  input_image_2: reference.optional(),
  input_image_3: reference.optional(),
  input_image_4: reference.optional(),
};
const kontext = z.strictObject({
  ...common,
  aspect_ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .refine((ratio) => {
      const [across = 1, down = 1] = ratio.split(":").map(Number);
      return across / down <= 21 / 9 && across / down >= 9 / 21;
    })
    .optional(),
  output_format: z.enum(["png", "jpeg", "webp"]).default("png"),
  safety_tolerance: z.int().min(0).max(6).optional(),
});
const edge = z.int().min(64).multipleOf(16);
const free = {
  ...common,
  width: edge.default(1024),
  height: edge.default(768),
  output_format: z.enum(["jpeg", "png"]).default("jpeg"),
  safety_tolerance: z.int().min(0).max(5).optional(),
};
const isWithinFour = ({ width, height }: { width: number; height: number }) => width * height <= 2048 * 2048;
const klein = z.strictObject(free).refine(isWithinFour);
const flux2 = z
  .strictObject({
    ...free,
    input_image_5: reference.optional(),
    input_image_6: reference.optional(),
    input_image_7: reference.optional(),
    input_image_8: reference.optional(),
  })
  .refine(isWithinFour);

const MODELS = {
  "flux-kontext-pro": kontext,
  "flux-kontext-max": kontext,
  "flux-2-pro": flux2,
  "flux-2-max": flux2,
  "flux-2-flex": flux2,
  "flux-2-klein-4b": klein,
  "flux-2-klein-9b": klein,
} as const;

type Jobs = SimulatedJobs<{ link: string }>;

export interface Bfl extends Simulator {
  jobs: Jobs;
}

/**
 * A simulated BFL that refuses what the vendor refuses. The base address for a channel is `{url}/v1`. `outcome` is the
 * final status of a job. `text` is a row of `ROWS`, or the polling address to return.
 */
export async function startBfl(): Promise<Bfl> {
  const jobs: Jobs = createJobs();
  const simulator = await startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["x-key"] !== SIMULATED_KEY) return call.refuse("unauthorized");
    if (method === "GET" && path === "/v1/credits") return sendJson(call.response, 200, { credits: 4.2 });
    if (method === "GET" && path === "/v1/get_result") return handlePoll(call, jobs);
    return handleSubmission(call, jobs);
  });
  return Object.assign(simulator, { jobs });
}

async function handleSubmission(call: VendorCall, jobs: Jobs): Promise<void> {
  const { request, response, behaviour, results, origin, refuse } = call;
  const model = request.path.replace("/v1/", "");
  if (request.method !== "POST" || !Object.hasOwn(MODELS, model)) return refuse("unknown-model");
  const schema: z.ZodType<z.infer<typeof kontext> | z.infer<typeof klein> | z.infer<typeof flux2>> =
    MODELS[model as keyof typeof MODELS];
  const read = schema.safeParse(readJsonBody(request));
  const wrong = (message: string, field: string) =>
    sendJson(response, 422, problem(message, "value_error", field));
  if (!read.success)
    return wrong(read.error.issues[0]!.message, String(read.error.issues[0]!.path[0] ?? "body"));
  const first = read.data.input_image === undefined ? undefined : await readBase64(read.data.input_image);
  if (first === null) return wrong("Unreadable image.", "input_image");
  const { width, height } = "width" in read.data ? read.data : megapixelOf(read.data.aspect_ratio, first, 32);
  const format = read.data.output_format;
  const path = results.keep(await makePicture(width, height, format), format, behaviour.linkBehaviours);
  const { id } = jobs.open(behaviour, { link: origin + path });
  const polling = behaviour.text ?? `${origin}/v1/get_result?id=${id}`;
  await sendJson(response, 200, { id, polling_url: polling, cost: 4 }, behaviour);
}

async function readBase64(text: string): Promise<{ width: number; height: number } | null> {
  const header = await readImageHeader(new Blob([Buffer.from(text, "base64")])).catch(() => null);
  return header && ["png", "jpeg"].includes(header.format) ? header : null;
}

/** Statuses of a running job, one for each poll. */
const BUSY = ["Pending", "Reasoning", "Generating"];

async function handlePoll({ request, response, behaviour, exchange }: VendorCall, jobs: Jobs): Promise<void> {
  const job = jobs.find(request.query.get("id"));
  if (!job) return sendJson(response, 200, { id: "", status: "Task not found", result: null });
  const { id, outcome = "Ready", output, polled } = job;
  if (!job.poll())
    return sendJson(response, 200, { id, status: BUSY[polled % BUSY.length], result: null }, behaviour);
  const isReady = outcome === "Ready";
  const result = isReady
    ? { sample: output.link, prompt: "…", seed: 1, start_time: 0, end_time: 0, duration: 0 }
    : null;
  const details = outcome.endsWith("Moderated") ? { "Moderation Reasons": ["violence"] } : null;
  await sendJson(
    response,
    200,
    { id, status: outcome === "No Sample" ? "Ready" : outcome, result, details },
    behaviour,
  );
  if (response.isFinished && isReady) exchange.reportPictures(1);
}
