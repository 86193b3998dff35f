import { z } from "zod";
import { sendJson } from "./transport.ts";
import { megapixelOf, readJsonBody, startVendor, type ErrorRows, type VendorCall } from "./error-rows.ts";
import { readInlineImage } from "./inline-image.ts";
import { createJobs, type SimulatedJob, type SimulatedJobs } from "./jobs.ts";
import { makePicture } from "./picture.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "r8_simulated0123456789abcdef";

const problem = (status: number, title: string, detail: string) => ({
  status,
  body: { title, detail, status },
});

/** The vendor's table of errors (Replicate HTTP reference). */
export const ROWS: ErrorRows = {
  "bad-request": problem(400, "Bad request", "The request is not valid."),
  unauthorized: problem(401, "Unauthenticated", "You did not pass a valid authentication token"),
  "no-credits": problem(402, "Insufficient credit", "You have insufficient credit to run this model."),
  "unknown-model": problem(404, "Not found", "The requested resource could not be found."),
  invalid: problem(422, "Input validation failed", "- input.aspect_ratio: must be one of the following."),
  throttled: problem(429, "Too many requests", "Request was throttled. Your rate limit resets in ~30s."),
  broken: problem(500, "Internal server error", "Something went wrong."),
  overloaded: problem(503, "Service unavailable", "Try again."),
  echo: problem(400, "Bad request", `Bad header Authorization: Bearer ${SIMULATED_KEY}. Send another one.`),
};

/** Texts of the field `error` in failed predictions. */
const FAILURES: Readonly<Record<string, string>> = {
  flagged: "The input or output was flagged as sensitive. Please try again with different inputs. (E005)",
  nsfw: "NSFW content detected. Try running it again, or try a different prompt.",
  "invalid-input": "The input is not valid. (E006)",
  "high-demand": "Service is currently unavailable due to high demand. (E003)",
  crashed: "CUDA out of memory",
};

const ratios = [
  "match_input_image",
  "1:1",
  "16:9",
  "9:16",
  "4:3",
  "3:4",
  "3:2",
  "2:3",
  "4:5",
  "5:4",
] as const;
const common = {
  prompt: z.string(),
  seed: z.int().optional(),
  safety_tolerance: z.int().min(0).max(6).optional(),
};
const kontext = z.strictObject({
  ...common,
  input_image: z.string().optional(),
  aspect_ratio: z.enum([...ratios, "21:9", "9:21", "2:1", "1:2"]).default("match_input_image"),
  output_format: z.enum(["jpg", "png"]).default("png"),
});
const flux2 = z.strictObject({
  ...common,
  input_images: z.array(z.string()).max(8).default([]),
  aspect_ratio: z.enum(ratios).default("1:1"),
  resolution: z.enum(["match_input_image", "0.5 MP", "1 MP", "2 MP", "4 MP"]).default("1 MP"),
  output_format: z.enum(["webp", "jpg", "png"]).default("webp"),
});

const banana = z.strictObject({
  prompt: z.string(),
  image_input: z.array(z.string()).max(14).default([]),
  aspect_ratio: z.enum([...ratios, "21:9"]).default("match_input_image"),
  resolution: z.enum(["1K", "2K", "4K"]).default("2K"),
  output_format: z.enum(["jpg", "png"]).default("jpg"),
  safety_filter_level: z.string().optional(),
  allow_fallback_model: z.boolean().optional(),
});

const VERSION = "00b07c32e314ceb5152c1d08e73400e6a61d7d22ba60a405fc76314fc807910c";
const MODELS: Readonly<Record<string, z.ZodType>> = {
  "black-forest-labs/flux-kontext-pro": kontext,
  "black-forest-labs/flux-kontext-max": kontext,
  "black-forest-labs/flux-2-pro": flux2,
  "black-forest-labs/flux-2-max": flux2,
  "black-forest-labs/flux-2-flex": flux2,
  "google/nano-banana-pro": banana,
  [VERSION]: flux2,
};

/** Models of a collection (Replicate HTTP reference, `collections.get`). */
const COLLECTED = Object.keys(MODELS)
  .filter((name) => name.includes("/"))
  .map((model) => ({ owner: model.split("/")[0], name: model.split("/")[1], visibility: "public" }));

/** Factor for the edges of a one-megapixel picture, by the size's name. */
const SCALES: Readonly<Record<string, number>> = { "4 MP": 2, "2K": 2, "4K": 4 };

interface ParsedRequest {
  input_image?: string;
  input_images?: string[];
  image_input?: string[];
  aspect_ratio: string;
  resolution?: string;
  output_format: "jpg" | "png" | "webp";
}

interface Output {
  links: string[];
}
type Jobs = SimulatedJobs<Output>;

export interface Replicate extends Simulator {
  jobs: Jobs;
}

/**
 * A simulated Replicate that refuses what the vendor refuses. The base address for a channel is `{url}/v1`. `outcome`
 * is a key of `FAILURES`, a status, `one-link` or `no-output`. Without `polls`, the prediction has ended in the
 * response to its submission.
 */
export async function startReplicate(): Promise<Replicate> {
  const jobs: Jobs = createJobs();
  const simulator = await startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["authorization"] !== `Bearer ${SIMULATED_KEY}`) return call.refuse("unauthorized");
    if (method === "GET" && path === "/v1/account")
      return sendJson(call.response, 200, { type: "user", username: "simulated" });
    if (method === "GET" && path === "/v1/collections/text-to-image")
      return sendJson(call.response, 200, {
        name: "Text to image",
        slug: "text-to-image",
        models: COLLECTED,
      });
    const [, id, action = ""] = /^\/v1\/predictions\/([\w-]+)(\/cancel)?$/.exec(path) ?? [];
    if (id === undefined) return handleSubmission(call, jobs);
    const job = jobs.find(id);
    if (!job || !["GET ", "POST /cancel"].includes(`${method} ${action}`))
      return call.refuse("unknown-model");
    if (action !== "") job.isCancelled = true;
    return sendJob(job, call);
  });
  return Object.assign(simulator, { jobs });
}

async function handleSubmission(call: VendorCall, jobs: Jobs): Promise<void> {
  const { request, behaviour, results, origin, refuse } = call;
  const body = z
    .strictObject({ version: z.string().optional(), input: z.unknown() })
    .safeParse(readJsonBody(request)).data;
  const named = /^\/v1\/models\/([^/]+\/[^/]+)\/predictions$/.exec(request.path)?.[1];
  const model = named ?? (request.path === "/v1/predictions" ? body?.version : undefined);
  const schema = model === undefined ? undefined : MODELS[model];
  if (request.method !== "POST" || !schema) return refuse("unknown-model");
  const { prefer = "wait", "cancel-after": cancelAfter = "1m" } = request.headers;
  if (!/^wait(=([1-9]|[1-5]\d|60))?$/.test(prefer) || !/^\d+[smh]$/.test(cancelAfter))
    return refuse("bad-request");
  const read = schema.safeParse(body?.input);
  if (!read.success || (named && body?.version !== undefined)) return refuse("invalid");
  const parsed = read.data as ParsedRequest;
  const references = await Promise.all(
    (parsed.input_images ?? parsed.image_input ?? [parsed.input_image ?? []].flat()).map(readInlineImage),
  );
  if (references.includes(null)) return refuse("invalid");
  const ratio = parsed.aspect_ratio === "match_input_image" ? undefined : parsed.aspect_ratio;
  const { width, height } = megapixelOf(ratio, references[0], 16);
  const scale = SCALES[parsed.resolution ?? ""] ?? 1;
  const format = parsed.output_format === "jpg" ? "jpeg" : parsed.output_format;
  const picture = await makePicture(width * scale, height * scale, format);
  const links = Array.from(
    { length: behaviour.images ?? 1 },
    () => origin + results.keep(picture, format, behaviour.linkBehaviours),
  );
  await sendJob(jobs.open({ polls: 0, ...behaviour }, { links }), call, true);
}

async function sendJob(
  job: SimulatedJob<Output>,
  { response, exchange, behaviour }: VendorCall,
  isNew = false,
): Promise<void> {
  const { hasEnded } = job;
  const prediction = describe(job);
  const status = !isNew ? 200 : hasEnded ? 201 : 202;
  await sendJson(response, status, prediction, behaviour);
  if (response.isFinished && prediction.status === "succeeded")
    exchange.reportPictures(job.output.links.length);
}

function describe(job: SimulatedJob<Output>): { status: string } {
  const { id, outcome = "", output, isCancelled } = job;
  const urls = { get: "https://elsewhere.example/get", cancel: "https://elsewhere.example/cancel" };
  const running = { id, status: "processing", input: {}, output: null, error: null, logs: "", urls };
  if (isCancelled) return { ...running, status: "canceled" };
  if (!job.poll()) return { ...running, status: job.polled === 1 ? "starting" : "processing" };
  if (Object.hasOwn(FAILURES, outcome))
    return Object.assign(running, { status: "failed", error: FAILURES[outcome] });
  if (outcome === "canceled" || outcome === "aborted") return { ...running, status: outcome };
  const given = outcome === "no-output" ? null : outcome === "one-link" ? output.links[0] : output.links;
  return Object.assign(running, { status: "succeeded", output: given, metrics: { predict_time: 1.5 } });
}
