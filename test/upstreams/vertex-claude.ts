import { isObject } from "../../src/lib/json.ts";
import { writeFrames, writeWhole } from "./anthropic/frames.ts";
import { findRefusal, invalid, refuse, type Refusal } from "./anthropic/refusals.ts";
import { countInput, makeReply, type PromptCache } from "./anthropic/reply.ts";
import { findFault, type Body, type SimulatedModel } from "./anthropic/rules.ts";
import { readMarker, type Behaviour } from "./behaviour.ts";
import { hasLink } from "./bedrock.ts";
import { SIMULATED_PROJECT } from "./gemini.ts";
import { refuse as refuseAsGoogle, unknownModel, WRONG_TOKEN } from "./gemini/refusals.ts";
import type { ReceivedRequest, SimulatedResponse } from "./http-server.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";
import { applyEarlyFault, sendFrames, sendJson } from "./transport.ts";

export interface VertexClaudeOptions {
  /** True when the access token is valid. */
  accepts(token: string): boolean;
  region?: string;
}

const MARKED_BYTES = 1024 * 1024;
const MODELS: Readonly<Record<string, SimulatedModel>> = {
  "claude-opus-5": { thinking: "adaptive", maxTokens: 128_000 },
  "claude-haiku-4-5@20251001": { thinking: "enabled", maxTokens: 64_000 },
};
const COUNTER = "count-tokens";

/**
 * Anthropic's models on a simulated Vertex AI, in one project and region. It refuses what Anthropic refuses, and also a
 * wrong `anthropic_version`, links to pictures, a message's field `model`, and a `stream` that contradicts the address.
 * Vertex AI's own errors have Google's format.
 */
export function startVertexClaude({ accepts, region = "global" }: VertexClaudeOptions): Promise<Simulator> {
  const cache: PromptCache = new Set();
  const models = `/v1/projects/${SIMULATED_PROJECT}/locations/${region}/publishers/anthropic/models/`;
  return startSimulator(async (request, response, exchange) => {
    const behaviour = exchange.takeBehaviour(() =>
      readMarker(request.body.toString("latin1", 0, MARKED_BYTES)),
    );
    if (await applyEarlyFault(behaviour, response)) return;
    const { authorization = "" } = request.headers;
    const refusal = findRefusal(behaviour, authorization);
    if (refusal) return refuse(response, refusal);
    if (!accepts(/^Bearer (\S+)$/.exec(authorization)?.[1] ?? "") || "x-api-key" in request.headers)
      return refuseAsGoogle(response, WRONG_TOKEN);
    const rest = request.path.startsWith(models) ? request.path.slice(models.length) : "";
    const [, model = "", method = ""] = /^([^/:]+):(rawPredict|streamRawPredict)$/.exec(rest) ?? [];
    if (request.method !== "POST" || !(MODELS[model] || model === COUNTER))
      return refuseAsGoogle(response, unknownModel(request.path));
    const body = parse(request);
    const fault = findBodyFault(request, body, model, method === "streamRawPredict");
    if (fault || !body) return refuse(response, fault ?? invalid("The request body is not valid JSON"));
    if (model === COUNTER)
      return sendJson(response, 200, { input_tokens: countInput(request.body.byteLength) }, behaviour);
    await reply({ response, exchange, behaviour }, { ...body, model: model.replace(/@.*$/, "") }, cache);
  });
}

interface Call {
  response: SimulatedResponse;
  exchange: HttpExchange;
  behaviour: Behaviour;
}

async function reply({ response, exchange, behaviour }: Call, body: Body, cache: PromptCache): Promise<void> {
  const message = makeReply(body, behaviour, JSON.stringify(body).length, cache);
  const { fault } = behaviour;
  if (body["stream"] !== true || fault === "json-for-stream") {
    await sendJson(response, 200, writeWhole(message, behaviour), behaviour);
    if (response.isFinished) exchange.reportUsage(message.usage);
    return;
  }
  const isWhole = await sendFrames(response, writeFrames(message, behaviour), behaviour);
  if (isWhole && !fault?.startsWith("error-frame")) exchange.reportUsage(message.usage);
}

function findBodyFault(
  request: ReceivedRequest,
  body: Body | undefined,
  model: string,
  isStream: boolean,
): Refusal | undefined {
  const { anthropic_version: version, ...rest } = body ?? {};
  if (version !== "vertex-2023-10-16")
    return invalid("anthropic_version: Input should be 'vertex-2023-10-16'");
  const isCount = model === COUNTER;
  if (!isCount && "model" in rest) return invalid("model: Extra inputs are not permitted");
  if (!isCount && (rest["stream"] === true) !== isStream) return invalid("stream: must fit the method");
  if (hasLink(rest)) return invalid("messages.0.content.0.image.source: URL sources are not supported");
  const headers = { ...request.headers, "anthropic-version": "2023-06-01" };
  return findFault({ ...request, headers }, { model, ...rest }, MODELS, isCount);
}

function parse({ body }: ReceivedRequest): Body | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
