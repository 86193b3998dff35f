import { z } from "zod";
import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import { readInlineImage } from "./inline-image.ts";
import { answerRow, megapixelOf, readJsonBody, type ErrorRow } from "./jobs.ts";
import { drawPicture } from "./openai/drawing.ts";
import type { Plan } from "./plan.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type Exchange, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "sk-simulated0123456789abcdef01234567";

const REQUEST_ID = "7a270c86-db58-9faf-b403-0123456789ab";
const problem = (status: number, code: string, message: string): ErrorRow => ({
  status,
  body: { code, message, request_id: REQUEST_ID },
});

/** The vendor's table of errors (model studio error codes). */
export const ROWS: Readonly<Record<string, ErrorRow>> = {
  InvalidParameter: problem(400, "InvalidParameter", "The size is not supported."),
  "InvalidParameter.DataInspection": problem(
    400,
    "InvalidParameter.DataInspection",
    "Unable to download the media.",
  ),
  DataInspectionFailed: problem(400, "DataInspectionFailed", "Input data may contain inappropriate content."),
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
  /** Fewest references. */
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

/**
 * A simulated model studio that refuses what the vendor refuses. The base address for a channel is `{url}/api/v1`.
 * `error-in-200` answers the row in `text` with the status of a success.
 */
export function startDashscope(): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, answer, exchange) => {
    if (await results.serve(request, answer)) return;
    const plan = exchange.takePlan(undefined);
    if ((await strikeFirst(plan, answer)) || (await answerRow(plan, ROWS, answer))) return;
    if (request.headers["authorization"] !== `Bearer ${SIMULATED_KEY}`)
      return refuse(answer, "InvalidApiKey");
    if (request.method !== "POST" || request.path !== PATH) return refuse(answer, "ModelNotFound");
    if (plan.fault === "error-in-200") return sendJson(answer, 200, ROWS[plan.text ?? ""]!.body);
    await answerCall(request, answer, exchange, results);
  });
}

function refuse(answer: Answer, name: string): Promise<void> {
  const { status, body } = ROWS[name]!;
  return sendJson(answer, status, body);
}

async function answerCall(
  request: ReceivedRequest,
  answer: Answer,
  exchange: Exchange,
  results: ResultFiles,
): Promise<void> {
  const { plan } = exchange.hit;
  const read = body.safeParse(readJsonBody(request)).data;
  if (!read) return refuse(answer, "InvalidParameter");
  const model = MODELS[read.model];
  if (!model) return refuse(answer, "ModelNotFound");
  const { size, n } = read.parameters;
  const { content } = read.input.messages[0];
  const images = await Promise.all(
    content.flatMap((part) => ("image" in part ? [readInlineImage(part.image)] : [])),
  );
  const [width, height] = size?.split("*").map(Number) ?? [];
  const isLegal =
    content.length - images.length === 1 &&
    images.length >= model.least &&
    images.length <= 3 &&
    images.every((image) => image !== null && image.bytes.byteLength <= 10 * 1024 * 1024) &&
    (model.hasSize || (size === undefined && (n ?? 1) === 1)) &&
    (size === undefined || model.takes(width!, height!));
  if (!isLegal) return refuse(answer, "InvalidParameter");
  const last = images.at(-1);
  const pixels =
    size === undefined
      ? megapixelOf(last ? `${last.width}:${last.height}` : "1:1", 16)
      : { width: width!, height: height! };
  await answerPictures(
    { ...pixels, count: n ?? 1, host: request.headers["host"]! },
    answer,
    exchange,
    results,
    plan,
  );
}

async function answerPictures(
  { width, height, count, host }: { width: number; height: number; count: number; host: string },
  answer: Answer,
  exchange: Exchange,
  results: ResultFiles,
  plan: Plan,
): Promise<void> {
  const picture = await drawPicture(width, height, "png");
  const given = plan.fault === "no-images" ? 0 : (plan.images ?? count);
  const content = Array.from({ length: given }, (_, index) => ({
    image: `http://${host}${results.keep(picture, "png", index === 0 ? plan.linked : [])}`,
  }));
  const usage = { image_count: given, width, height };
  const choice = { finish_reason: "stop", message: { role: "assistant", content } };
  await sendJson(answer, 200, { output: { choices: [choice] }, usage, request_id: REQUEST_ID }, plan);
  if (answer.isFinished) exchange.reportUsage(usage);
}
