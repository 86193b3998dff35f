import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import { drawPicture } from "./openai/drawing.ts";
import type { Plan } from "./plan.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";
import { flat, readWish, type Refusal, type Wish } from "./xai/rules.ts";

export const SIMULATED_KEY = "xai-simulated0123456789abcdefghijkl";

const INVALID = "Client specified an invalid argument";
const WRONG_KEY = flat(
  400,
  INVALID,
  "Incorrect API key provided: xa***kl. Find yours at https://console.x.ai.",
);
const UNKNOWN_PATH = flat(404, "not-found", "The requested resource was not found.");
/** 1 USD is 10^10 ticks; a picture costs 0.02. */
const TICKS = 200_000_000;

/**
 * A simulated xAI that refuses what the vendor refuses. The base address for a channel is `{url}/v1`. Plans:
 * `failed-items` moderates every place but the first `images`; `no-images` gives none at all; `content-refused` is
 * the vendor's 400 for a moderated picture; `error-status` has the shape named in `text`: flat, nested or sentence;
 * `links` gives links, to the address in `text` or to itself.
 */
export function startXai(): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, answer, exchange) => {
    if (await results.serve(request, answer)) return;
    const { authorization = "" } = request.headers;
    const plan = exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    const refusal = findRefusal(plan, authorization);
    if (refusal) return refuse(answer, refusal);
    if (authorization !== `Bearer ${SIMULATED_KEY}`) return refuse(answer, WRONG_KEY);
    const isKnown = request.path === "/v1/images/generations" || request.path === "/v1/images/edits";
    if (request.method !== "POST" || !isKnown) return refuse(answer, UNKNOWN_PATH);
    const wish = await readWish(request);
    if ("refusal" in wish) return refuse(answer, wish.refusal);
    await answerWish(wish, { request, answer, exchange, results });
  });
}

async function refuse(answer: Answer, { status, body, headers }: Refusal): Promise<void> {
  await sendJson(answer, status, body, {}, headers);
}

function findRefusal(plan: Plan, authorization: string): Refusal | undefined {
  const headers = plan.retryAfter === undefined ? undefined : { "retry-after": plan.retryAfter };
  switch (plan.fault) {
    case "echo-authorization":
      return flat(400, INVALID, `Bad header ${authorization}. Send another one.`);
    case "content-refused":
      return {
        status: 400,
        body: {
          code: INVALID,
          error: "Generated image rejected by content moderation.",
          usage: { cost_in_usd_ticks: TICKS },
        },
      };
    case "error-in-200":
      return flat(200, "internal", "Service temporarily unavailable.");
    case "error-status":
      return { status: plan.status ?? 500, body: troubleIn(plan.text), headers };
    default:
      return undefined;
  }
}

function troubleIn(shape = "flat"): object {
  if (shape === "nested") return { error: { message: "Trouble." } };
  if (shape === "sentence")
    return {
      code: "The caller does not have permission to execute the specified operation",
      error: "The 2k resolution feature is not available.",
    };
  return { code: "invalid-argument", error: "Trouble." };
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
  const data = await drawAll(wish, call);
  const usage = plan.fault === "no-usage" ? undefined : (plan.usage ?? { cost_in_usd_ticks: wish.n * TICKS });
  await sendJson(answer, 200, { data, usage }, plan);
  if (!answer.isFinished) return;
  exchange.reportPictures(data.filter((item) => "revised_prompt" in item).length);
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function drawAll(wish: Wish, { request, exchange, results }: Call): Promise<object[]> {
  const { plan } = exchange.hit;
  if (plan.fault === "no-images") return [];
  const good = plan.images ?? (plan.fault === "failed-items" ? 0 : wish.n);
  const picture = await drawPicture(wish.width, wish.height, "jpeg");
  const origin = plan.text ?? `http://${request.headers["host"]}`;
  const items = Array.from({ length: good }, (_, index): object => {
    const said = { revised_prompt: "", respect_moderation: true };
    if (plan.fault === "bad-base64") return { b64_json: "*".repeat(200_000), ...said };
    if (wish.isInline && plan.fault !== "links") return { b64_json: picture.toString("base64"), ...said };
    return { url: `${origin}${results.keep(picture, "jpeg", index === 0 ? plan.linked : [])}`, ...said };
  });
  if (plan.fault !== "failed-items") return items;
  return [...items, ...Array.from({ length: wish.n - good }, () => ({ respect_moderation: false }))];
}
