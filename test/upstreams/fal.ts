import { sendJson } from "./transport.ts";
import { megapixelOf, readJsonBody, startVendor, type ErrorRows, type VendorCall } from "./error-rows.ts";
import { MODELS, type FalInputs } from "./fal-models.ts";
import { readInlineImage } from "./inline-image.ts";
import { createJobs, type SimulatedJob, type SimulatedJobs } from "./jobs.ts";
import { makePicture } from "./picture.ts";
import type { Behaviour } from "./behaviour.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "0123abcd-simulated:89abcdef01234567";

const problem = (type: string, field: string, msg = "It did not work.") => ({
  detail: [{ loc: ["body", field], msg, type, url: "https://docs.fal.ai/errors" }],
});

/** The vendor's error table for the queue and for jobs (fal error reference). */
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
  // Errors of the queue itself, sent in place of the result (fal error reference, request errors).
  runner_disconnected: {
    status: 503,
    body: { detail: "Runner disconnected", error_type: "runner_disconnected" },
  },
  startup_timeout: { status: 504, body: { detail: "Request timed out", error_type: "startup_timeout" } },
  internal: { status: 500, body: problem("internal_server_error", "body") },
};

interface Output {
  application: string;
  result: { image?: object; images?: object[] };
}
type Jobs = SimulatedJobs<Output>;

export interface Fal extends Simulator {
  jobs: Jobs;
}

/**
 * A simulated fal queue that refuses what the vendor refuses. The base address for a channel is `{url}`. `outcome` can
 * be a row of `ROWS`, which becomes the job's result; `nsfw:` with the indexes of unsafe pictures; `single` for a
 * picture outside of a list; or `no-images`.
 */
export async function startFal(): Promise<Fal> {
  const jobs: Jobs = createJobs();
  const simulator = await startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["authorization"] !== `Key ${SIMULATED_KEY}`) return call.refuse("unauthorized");
    if (method === "GET" && path === "/v1/models") return sendModels(call);
    const [, application, id, rest = ""] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/.*)?$/.exec(path) ?? [];
    if (application === undefined) return handleSubmission(call, jobs);
    const job = jobs.find(id);
    if (!job || job.output.application !== application) return call.refuse("unknown-request");
    return handleJob(job, rest, call);
  });
  return Object.assign(simulator, { jobs });
}

const PAGE_SIZE = 2;

/** Sends a page of two models of a category (fal platform API, "Model search"). */
async function sendModels({ request: { query }, response, refuse }: VendorCall): Promise<void> {
  const category = query.get("category");
  const offset = Number(query.get("cursor") ?? "0");
  const limit = Number(query.get("limit") ?? "50");
  const known = ["category", "status", "limit", "cursor"];
  const isLegal = [...query.keys()].every((name) => known.includes(name)) && limit >= 1 && limit <= 100;
  if (!isLegal || !["active", "deprecated"].includes(query.get("status") ?? "active"))
    return refuse("sentence");
  const all = Object.keys(MODELS).filter(
    (name) => name.endsWith("/edit") === (category === "image-to-image"),
  );
  const end = offset + PAGE_SIZE;
  const models = all.slice(offset, end).map((name) => ({
    endpoint_id: name,
    metadata: { display_name: name, category, status: "active" },
  }));
  const hasMore = end < all.length;
  return sendJson(response, 200, { models, has_more: hasMore, next_cursor: hasMore ? String(end) : null });
}

async function handleJob(
  job: SimulatedJob<Output>,
  rest: string,
  { request, response, exchange, behaviour, refuse }: VendorCall,
): Promise<void> {
  const { id, outcome = "", output, hasEnded } = job;
  switch (`${request.method} ${rest}`) {
    case "PUT /cancel":
      job.isCancelled = true;
      return hasEnded
        ? sendJson(response, 400, { status: "ALREADY_COMPLETED" })
        : sendJson(response, 202, { status: "CANCELLATION_REQUESTED" });
    case "GET /status": {
      const status = job.poll() ? "COMPLETED" : "IN_PROGRESS";
      return sendJson(response, 200, { request_id: id, status }, behaviour);
    }
    case "GET ":
      if (Object.hasOwn(ROWS, outcome)) return refuse(outcome);
      await sendJson(response, 200, output.result, behaviour);
      if (response.isFinished) exchange.reportPictures(output.result.images?.length ?? 1);
      return;
    default:
      return refuse("wrong-method");
  }
}

async function handleSubmission(call: VendorCall, jobs: Jobs): Promise<void> {
  const { request, response, behaviour, origin, refuse } = call;
  const model = request.path.slice(1);
  const schema = MODELS[model];
  if (request.method !== "POST" || !schema) return refuse("unknown-model");
  const read = schema.safeParse(readJsonBody(request));
  const issue = read.error?.issues[0];
  if (issue)
    return sendJson(response, 422, problem("value_error", String(issue.path[0] ?? "body"), issue.message));
  const parsed = read.data as FalInputs;
  const links = parsed.image_urls ?? (parsed.image_url === undefined ? [] : [parsed.image_url]);
  const references = await Promise.all(links.map(readInlineImage));
  if (references.includes(null)) return refuse("file_download_error");
  const ratio = parsed.aspect_ratio === "auto" ? undefined : parsed.aspect_ratio;
  const pixels = parsed.image_size ?? megapixelOf(ratio, references[0], 16);
  const result = await makeResult(parsed, pixels, call);
  const application = model.split("/").slice(0, 2).join("/");
  const { id } = jobs.open(behaviour, { application, result });
  const url = `${origin}/${application}/requests/${id}`;
  const addresses = { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
  const queued = { request_id: id, status: "IN_QUEUE", queue_position: 0, ...addresses };
  await sendJson(response, 200, queued, behaviour);
}

async function makeResult(
  { output_format: format = "png", num_images: wanted = 1, resolution = "1K" }: FalInputs,
  { width, height }: { width: number; height: number },
  { behaviour, results, origin }: VendorCall,
): Promise<Output["result"]> {
  const { outcome = "", images = wanted }: Behaviour = behaviour;
  const scale = { "1K": 1, "2K": 2, "4K": 4 }[resolution];
  const picture = await makePicture(width * scale, height * scale, format);
  const indecent = outcome.startsWith("nsfw:") ? outcome.slice(5).split(",").map(Number) : [];
  const indexes = Array.from({ length: outcome === "no-images" ? 0 : images }, (_, index) => index);
  const result = {
    images: indexes.map((index) => ({
      // Only the first picture's link has behaviours.
      url: origin + results.keep(picture, format, index === 0 ? behaviour.linkBehaviours : []),
      width,
      height,
      content_type: `image/${format}`,
    })),
    seed: 1,
    has_nsfw_concepts: indexes.map((index) => indecent.includes(index)),
    prompt: "…",
  };
  // A model that makes one picture returns it as `image` (fal model pages, output schemas).
  if (outcome === "single") return { ...result, image: result.images[0], images: undefined };
  return result;
}
