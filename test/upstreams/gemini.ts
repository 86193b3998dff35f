import type { Answer, ReceivedRequest } from "./connection.ts";
import { strikeFirst } from "./delivery.ts";
import { answerWish } from "./gemini/answer.ts";
import {
  findRefusal,
  invalid,
  NO_KEY,
  refuse,
  unknownModel,
  WRONG_KEY,
  WRONG_TOKEN,
} from "./gemini/refusals.ts";
import { readWish } from "./gemini/rules.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "AIzaSimulated0123456789abcdefghijklmnop";
export const SIMULATED_PROJECT = "simulated-project";

/** A simulated Gemini API: the address for keys, which it takes in its header only. */
export function startGemini(apiKey = SIMULATED_KEY): Promise<Simulator> {
  return startSimulator(async (request, answer, exchange) => {
    const { "x-goog-api-key": key = "", authorization } = request.headers;
    const plan = exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    const refusal = findRefusal(plan, key);
    if (refusal) return refuse(answer, refusal);
    if (key === "") return refuse(answer, NO_KEY);
    if (key !== apiKey || authorization !== undefined) return refuse(answer, WRONG_KEY);
    const path = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(request.path);
    await generate(path?.[1], { request, answer, exchange }, false);
  });
}

export interface VertexOptions {
  /** Whether an access token is good. */
  accepts(token: string): boolean;
  region?: string;
}

/** A simulated Vertex AI in one project and region, entered with access tokens. */
export function startVertex({ accepts, region = "global" }: VertexOptions): Promise<Simulator> {
  const models = `/v1beta1/projects/${SIMULATED_PROJECT}/locations/${region}/publishers/google/models/`;
  return startSimulator(async (request, answer, exchange) => {
    const { authorization = "", "x-goog-api-key": key } = request.headers;
    const plan = exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    const refusal = findRefusal(plan, authorization);
    if (refusal) return refuse(answer, refusal);
    const token = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? "";
    if (!accepts(token) || key !== undefined) return refuse(answer, WRONG_TOKEN);
    const rest = request.path.startsWith(models) ? request.path.slice(models.length) : "";
    await generate(/^([^/:]+):generateContent$/.exec(rest)?.[1], { request, answer, exchange }, true);
  });
}

interface Call {
  request: ReceivedRequest;
  answer: Answer;
  exchange: HttpExchange;
}

async function generate(model: string | undefined, call: Call, isVertex: boolean): Promise<void> {
  const { request, answer, exchange } = call;
  if (model === undefined) return refuse(answer, unknownModel(request.path));
  if (request.method !== "POST") return refuse(answer, invalid("POST is expected."));
  if (request.query.size > 0) return refuse(answer, invalid("Nothing is expected in the query."));
  const wish = readWish(request, decodeURIComponent(model), { isVertex });
  return "code" in wish ? refuse(answer, wish) : answerWish(wish, answer, exchange);
}
