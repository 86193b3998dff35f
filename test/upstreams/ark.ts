import { MODELS } from "./ark/models.table.ts";
import {
  envelope,
  findRefusal,
  refuse,
  SENSITIVE,
  UNKNOWN_PATH,
  WRONG_KEY,
  type Refusal,
} from "./ark/refusals.ts";
import { readWish, type Wish } from "./ark/rules.ts";
import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import { drawPicture } from "./openai/drawing.ts";
import type { Plan } from "./plan.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "01234567-89ab-cdef-0123-simulated000";

export interface ArkOptions {
  /** Each region knows its own names of models. */
  region?: "cn" | "global";
}

/**
 * A simulated Ark that refuses what the vendor refuses. The base address for a channel is `{url}/api/v3`. Plans:
 * `failed-items` fails every place of a group but the first `images`, with the code in `text`; `error-in-200` does
 * so for the whole; `links` gives links, to the address in `text` or to itself.
 */
export function startArk({ region = "cn" }: ArkOptions = {}): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, answer, exchange) => {
    if (await results.serve(request, answer)) return;
    const { authorization = "" } = request.headers;
    const plan = exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    const refusal = findRefusal(plan, authorization);
    if (refusal) return refuse(answer, refusal);
    if (authorization !== `Bearer ${SIMULATED_KEY}`) return refuse(answer, WRONG_KEY);
    if (request.method !== "POST" || request.path !== "/api/v3/images/generations")
      return refuse(answer, UNKNOWN_PATH);
    const wish = await readWish(request, MODELS[region]);
    if ("refusal" in wish) return refuse(answer, wish.refusal);
    await answerWish(wish, { request, answer, exchange, results });
  });
}

interface Call {
  request: ReceivedRequest;
  answer: Answer;
  exchange: HttpExchange;
  results: ResultFiles;
}

async function answerWish(wish: Wish, call: Call): Promise<void> {
  const { answer, exchange } = call;
  const { plan } = exchange.hit;
  const head = { model: wish.modelName, created: 1_790_000_000 };
  if (plan.fault === "error-in-200")
    return sendJson(answer, 200, { ...head, ...envelope(failure(plan)) }, plan);
  const data = await drawAll(wish, call);
  const drawn = data.filter((item) => !("error" in item)).length;
  const usage = plan.fault === "no-usage" ? undefined : (plan.usage ?? countTokens(wish, drawn));
  await sendJson(answer, 200, { ...head, data, usage }, plan);
  if (!answer.isFinished) return;
  exchange.reportPictures(drawn);
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function drawAll(wish: Wish, { request, exchange, results }: Call): Promise<object[]> {
  const { plan } = exchange.hit;
  if (plan.fault === "no-images") return [];
  const good = Math.min(plan.images ?? (plan.fault === "failed-items" ? 0 : wish.most), wish.most);
  const picture = await drawPicture(wish.width, wish.height, wish.format);
  const size = `${wish.width}x${wish.height}`;
  const origin = plan.text ?? `http://${request.headers["host"]}`;
  const items = Array.from({ length: good }, (_, index): object => {
    if (plan.fault === "bad-base64") return { b64_json: "*".repeat(200_000), size };
    if (wish.isInline && plan.fault !== "links") return { b64_json: picture.toString("base64"), size };
    return { url: `${origin}${results.keep(picture, wish.format, index === 0 ? plan.linked : [])}`, size };
  });
  if (plan.fault !== "failed-items") return items;
  const failed = Array.from({ length: wish.most - good }, () => envelope(failure(plan)));
  return [...items, ...failed];
}

function failure(plan: Plan): Refusal {
  return { status: 200, code: plan.text ?? "OutputImageSensitiveContentDetected", message: SENSITIVE };
}

/** Output tokens go by the pixels; the total says the same, for input is not counted. */
function countTokens({ width, height, references }: Wish, drawn: number): object {
  const output = drawn * Math.round((width * height) / 256);
  return { generated_images: drawn, input_images: references, output_tokens: output, total_tokens: output };
}
