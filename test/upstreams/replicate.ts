import { z } from "zod";
import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import { readInlineImage } from "./inline-image.ts";
import {
  answerRow,
  createJobs,
  megapixelOf,
  readJsonBody,
  type ErrorRow,
  type SimulatedJob,
  type SimulatedJobs,
} from "./jobs.ts";
import { drawPicture } from "./openai/drawing.ts";
import type { Plan } from "./plan.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "r8_simulated0123456789abcdef";

const problem = (status: number, title: string, detail: string) => ({
  status,
  body: { title, detail, status },
});

/** The vendor's table of errors (Replicate HTTP reference). */
export const ROWS: Readonly<Record<string, ErrorRow>> = {
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

/** Ends of predictions that failed, by what `error` says. */
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

const VERSION = "00b07c32e314ceb5152c1d08e73400e6a61d7d22ba60a405fc76314fc807910c";
const MODELS: Readonly<Record<string, z.ZodType>> = {
  "black-forest-labs/flux-kontext-pro": kontext,
  "black-forest-labs/flux-kontext-max": kontext,
  "black-forest-labs/flux-2-pro": flux2,
  "black-forest-labs/flux-2-max": flux2,
  [VERSION]: flux2,
};

interface Wish {
  input_image?: string;
  input_images?: string[];
  aspect_ratio: string;
  resolution?: string;
  output_format: "jpg" | "png" | "webp";
}

type Jobs = SimulatedJobs<{ output: unknown }>;

export interface Replicate extends Simulator {
  jobs: Jobs;
}

/**
 * A simulated Replicate that refuses what the vendor refuses. The base address for a channel is `{url}/v1`. A plan's
 * `fate` is a key of the failures, or a status, or `one-link` or `no-output`; without `looks` the wait is enough.
 */
export async function startReplicate(): Promise<Replicate> {
  const results = createResultFiles();
  const jobs: Jobs = createJobs();
  const simulator = await startSimulator(async (request, answer, exchange) => {
    if (await results.serve(request, answer)) return;
    // Nobody waits for a cancel call, so it would take the plan of another test's request.
    const plan = request.path.endsWith("/cancel") ? {} : exchange.takePlan(undefined);
    if ((await strikeFirst(plan, answer)) || (await answerRow(plan, ROWS, answer))) return;
    if (request.headers["authorization"] !== `Bearer ${SIMULATED_KEY}`) return refuse(answer, "unauthorized");
    const [, id, action = ""] = /^\/v1\/predictions\/([\w-]+)(\/cancel)?$/.exec(request.path) ?? [];
    if (id === undefined) return answerSubmission(request, answer, plan, jobs, results);
    const job = jobs.find(id);
    const asked = `${request.method} ${action}`;
    if (!job || !["GET ", "POST /cancel"].includes(asked)) return refuse(answer, "unknown-model");
    if (action !== "") job.isCancelled = true;
    await sendJson(answer, 200, describe(job), plan);
  });
  return Object.assign(simulator, { jobs });
}

function refuse(answer: Answer, name: string): Promise<void> {
  const { status, body } = ROWS[name]!;
  return sendJson(answer, status, body);
}

async function answerSubmission(
  request: ReceivedRequest,
  answer: Answer,
  plan: Plan,
  jobs: Jobs,
  results: ResultFiles,
): Promise<void> {
  const body = z
    .strictObject({ version: z.string().optional(), input: z.unknown() })
    .safeParse(readJsonBody(request)).data;
  const named = /^\/v1\/models\/([^/]+\/[^/]+)\/predictions$/.exec(request.path)?.[1];
  const model = named ?? (request.path === "/v1/predictions" ? body?.version : undefined);
  const schema = model === undefined ? undefined : MODELS[model];
  if (request.method !== "POST" || !schema) return refuse(answer, "unknown-model");
  const { prefer = "wait", "cancel-after": cancelAfter = "1m" } = request.headers;
  if (!/^wait(=([1-9]|[1-5]\d|60))?$/.test(prefer) || !/^\d+[smh]$/.test(cancelAfter))
    return refuse(answer, "bad-request");
  const read = schema.safeParse(body?.input);
  if (!read.success || (named && body?.version !== undefined)) return refuse(answer, "invalid");
  const wish = read.data as Wish;
  const references = await Promise.all(
    (wish.input_images ?? [wish.input_image ?? []].flat()).map(readInlineImage),
  );
  if (references.includes(null)) return refuse(answer, "invalid");
  const [first] = references;
  const ratio =
    wish.aspect_ratio !== "match_input_image"
      ? wish.aspect_ratio
      : first
        ? `${first.width}:${first.height}`
        : "1:1";
  const { width, height } = megapixelOf(ratio, 16);
  const scale = wish.resolution === "4 MP" ? 2 : 1;
  const format = wish.output_format === "jpg" ? "jpeg" : wish.output_format;
  const picture = await drawPicture(width * scale, height * scale, format);
  const links = Array.from(
    { length: plan.images ?? 1 },
    () => `http://${request.headers["host"]}${results.keep(picture, format, plan.linked)}`,
  );
  const output = plan.fate === "no-output" ? null : plan.fate === "one-link" ? links[0] : links;
  const job = jobs.open({ looks: 0, ...plan }, { output });
  await sendJson(answer, 201, describe(job), plan);
}

function describe(job: SimulatedJob<{ output: unknown }>): object {
  const { id, fate = "", output, isCancelled } = job;
  const urls = { get: "https://elsewhere.example/get", cancel: "https://elsewhere.example/cancel" };
  const running = { id, status: "processing", input: {}, output: null, error: null, logs: "", urls };
  if (isCancelled) return { ...running, status: "canceled" };
  if (!job.look()) return running;
  if (Object.hasOwn(FAILURES, fate)) return { ...running, status: "failed", error: FAILURES[fate] };
  if (fate === "canceled" || fate === "aborted") return { ...running, status: fate };
  return { ...running, status: "succeeded", output: output.output, metrics: { predict_time: 1.5 } };
}
