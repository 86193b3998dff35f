import { z } from "zod";
import { sendJson } from "./delivery.ts";
import { megapixelOf, readJsonBody, startVendor, type ErrorRows, type VendorCall } from "./error-rows.ts";
import { readInlineImage } from "./inline-image.ts";
import { createJobs, type SimulatedJob, type SimulatedJobs } from "./jobs.ts";
import { drawPicture } from "./openai/drawing.ts";
import type { Plan } from "./plan.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "0123abcd-simulated:89abcdef01234567";

const problem = (type: string, field: string, msg = "It did not work.") => ({
  detail: [{ loc: ["body", field], msg, type, url: "https://docs.fal.ai/errors" }],
});

/** The vendor's table of errors, of the queue and of jobs (fal error reference). */
export const ROWS: ErrorRows = {
  unauthorized: { status: 401, body: { detail: "Cannot access application. Authentication is required." } },
  locked: { status: 403, body: { detail: "User is locked. Reason: Exhausted balance." } },
  "unknown-model": { status: 404, body: { detail: "Application not found" } },
  "unknown-request": { status: 404, body: { detail: "Request not found" } },
  "wrong-method": { status: 405, body: { detail: "Method Not Allowed" } },
  throttled: { status: 429, body: { detail: "Too many requests" } },
  "bad-gateway": { status: 502, body: { detail: "Bad gateway" } },
  overloaded: { status: 503, body: { detail: "Service unavailable" } },
  late: { status: 504, body: { detail: "Gateway timeout" } },
  echo: {
    status: 400,
    body: { detail: `Bad header Authorization: Key ${SIMULATED_KEY}. Send another one.` },
  },
  content_policy_violation: { status: 422, body: problem("content_policy_violation", "prompt") },
  sentence: { status: 422, body: { detail: "The prompt is too long." } },
  image_too_large: { status: 422, body: problem("image_too_large", "image_url") },
  file_download_error: { status: 422, body: problem("file_download_error", "image_url") },
  no_media_generated: { status: 422, body: problem("no_media_generated", "prompt") },
  downstream_service_error: { status: 400, body: problem("downstream_service_error", "body") },
  downstream_service_unavailable: { status: 503, body: problem("downstream_service_unavailable", "body") },
  generation_timeout: { status: 504, body: problem("generation_timeout", "body") },
  internal: { status: 500, body: problem("internal_server_error", "body") },
};

const size = z.strictObject({
  width: z.int().min(256).max(4096),
  height: z.int().min(256).max(4096),
});
const ratio = z.enum(["21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"]);
const common = {
  prompt: z.string().min(1),
  seed: z.int().optional(),
  sync_mode: z.boolean().optional(),
  safety_tolerance: z.string().optional(),
  output_format: z.enum(["jpeg", "png"]).default("jpeg"),
};
const drawn = { ...common, aspect_ratio: ratio.default("1:1"), num_images: z.int().min(1).max(4).default(1) };
const edited = { ...drawn, aspect_ratio: ratio.optional(), image_url: z.string() };
const KONTEXT = { drawn: z.strictObject(drawn), edited: z.strictObject(edited) };
const FLUX2 = {
  drawn: z.strictObject({ ...common, image_size: size.default({ width: 1024, height: 768 }) }),
  edited: z.strictObject({
    ...common,
    image_size: size.optional(),
    image_urls: z.array(z.string()).min(1).max(8),
  }),
};

const MODELS: Readonly<Record<string, z.ZodType>> = {
  "fal-ai/flux-pro/kontext/text-to-image": KONTEXT.drawn,
  "fal-ai/flux-pro/kontext": KONTEXT.edited,
  "fal-ai/flux-pro/kontext/max/text-to-image": KONTEXT.drawn,
  "fal-ai/flux-pro/kontext/max": KONTEXT.edited,
  "fal-ai/flux-2-pro": FLUX2.drawn,
  "fal-ai/flux-2-pro/edit": FLUX2.edited,
  "fal-ai/flux-2-max": FLUX2.drawn,
  "fal-ai/flux-2-max/edit": FLUX2.edited,
};

interface Wish {
  image_size?: { width: number; height: number };
  aspect_ratio?: string;
  num_images?: number;
  output_format: "jpeg" | "png";
  image_url?: string;
  image_urls?: string[];
}

interface Output {
  application: string;
  result: { images: object[] };
}
type Jobs = SimulatedJobs<Output>;

export interface Fal extends Simulator {
  jobs: Jobs;
}

/**
 * A simulated queue of fal that refuses what the vendor refuses. The base address for a channel is its own. A plan's
 * `fate` is a row of the table that a job's result is answered with, `nsfw:` and the places found indecent, or
 * `no-images`.
 */
export async function startFal(): Promise<Fal> {
  const jobs: Jobs = createJobs();
  const simulator = await startVendor(ROWS, (call) => {
    const { path, headers } = call.request;
    if (headers["authorization"] !== `Key ${SIMULATED_KEY}`) return call.refuse("unauthorized");
    const [, application, id, rest = ""] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/.*)?$/.exec(path) ?? [];
    if (application === undefined) return answerSubmission(call, jobs);
    const job = jobs.find(id);
    if (!job || job.output.application !== application) return call.refuse("unknown-request");
    return answerAbout(job, rest, call);
  });
  return Object.assign(simulator, { jobs });
}

async function answerAbout(
  job: SimulatedJob<Output>,
  rest: string,
  { request, answer, exchange, plan, refuse }: VendorCall,
): Promise<void> {
  const { id, fate = "", output, hasEnded } = job;
  switch (`${request.method} ${rest}`) {
    case "PUT /cancel":
      job.isCancelled = true;
      return hasEnded
        ? sendJson(answer, 400, { status: "ALREADY_COMPLETED" })
        : sendJson(answer, 202, { status: "CANCELLATION_REQUESTED" });
    case "GET /status": {
      const status = job.look() ? "COMPLETED" : "IN_PROGRESS";
      return sendJson(answer, 200, { request_id: id, status }, plan);
    }
    case "GET ":
      if (Object.hasOwn(ROWS, fate)) return refuse(fate);
      await sendJson(answer, 200, output.result, plan);
      if (answer.isFinished) exchange.reportPictures(output.result.images.length);
      return;
    default:
      return refuse("wrong-method");
  }
}

async function answerSubmission(call: VendorCall, jobs: Jobs): Promise<void> {
  const { request, answer, plan, origin, refuse } = call;
  const model = request.path.slice(1);
  const schema = MODELS[model];
  if (request.method !== "POST" || !schema) return refuse("unknown-model");
  const read = schema.safeParse(readJsonBody(request));
  const issue = read.error?.issues[0];
  if (issue)
    return sendJson(answer, 422, problem("value_error", String(issue.path[0] ?? "body"), issue.message));
  const wish = read.data as Wish;
  const links = wish.image_urls ?? (wish.image_url === undefined ? [] : [wish.image_url]);
  const references = await Promise.all(links.map(readInlineImage));
  if (references.includes(null)) return refuse("file_download_error");
  const pixels = wish.image_size ?? megapixelOf(wish.aspect_ratio, references[0], 16);
  const result = await drawResult(wish, pixels, call);
  const application = model.split("/").slice(0, 2).join("/");
  const { id } = jobs.open(plan, { application, result });
  const url = `${origin}/${application}/requests/${id}`;
  const addresses = { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
  const queued = { request_id: id, status: "IN_QUEUE", queue_position: 0, ...addresses };
  await sendJson(answer, 200, queued, plan);
}

async function drawResult(
  { output_format: format, num_images: wanted = 1 }: Wish,
  { width, height }: { width: number; height: number },
  { plan, results, origin }: VendorCall,
): Promise<Output["result"]> {
  const { fate = "", images = wanted }: Plan = plan;
  const picture = await drawPicture(width, height, format);
  const indecent = fate.startsWith("nsfw:") ? fate.slice(5).split(",").map(Number) : [];
  const places = Array.from({ length: fate === "no-images" ? 0 : images }, (_, index) => index);
  const result = {
    images: places.map((index) => ({
      // The plans of links are those of the first picture's.
      url: origin + results.keep(picture, format, index === 0 ? plan.linked : []),
      width,
      height,
      content_type: `image/${format}`,
    })),
    seed: 1,
    has_nsfw_concepts: places.map((index) => indecent.includes(index)),
    prompt: "…",
  };
  return result;
}
