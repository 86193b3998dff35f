import { isObject } from "../../src/lib/json.ts";
import { writeFrames, writeWhole } from "./anthropic/frames.ts";
import { findRefusal, NOT_FOUND, refuse, REQUEST_ID, WRONG_KEY } from "./anthropic/refusals.ts";
import { countInput, makeReply, type PromptCache } from "./anthropic/reply.ts";
import { findFault, type Body, type SimulatedModel } from "./anthropic/rules.ts";
import { readMarker, type Behaviour } from "./behaviour.ts";
import type { ReceivedRequest, SimulatedResponse } from "./http-server.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";
import { applyEarlyFault, sendFrames, sendJson } from "./transport.ts";

export interface AnthropicOptions {
  /** The only accepted key. */
  apiKey?: string;
  models?: Readonly<Record<string, SimulatedModel>>;
}

export const SIMULATED_KEY = "sk-ant-simulated-0123456789abcdef";

const DEFAULTS: Required<AnthropicOptions> = {
  apiKey: SIMULATED_KEY,
  models: {
    "claude-opus-5": { thinking: "adaptive", maxTokens: 128_000 },
    "claude-sonnet-5": { thinking: "adaptive", maxTokens: 128_000 },
    "claude-haiku-4-5": { thinking: "enabled", maxTokens: 64_000 },
  },
};
/** A prompt precedes long data, so its marker is near the start of a request. */
const MARKED_BYTES = 1024 * 1024;

/**
 * A simulated Anthropic that refuses what the vendor refuses in the requested version: unknown fields, sampling,
 * unsupported thinking, changed signatures, wrong orders of blocks. It has a prompt cache and counts usage. The base
 * address for a channel is `{url}`.
 */
export function startAnthropic(options: AnthropicOptions = {}): Promise<Simulator> {
  const { apiKey, models } = { ...DEFAULTS, ...options };
  const cache: PromptCache = new Set();
  return startSimulator(async (request, response, exchange) => {
    const behaviour = exchange.takeBehaviour(() =>
      readMarker(request.body.toString("latin1", 0, MARKED_BYTES)),
    );
    if (await applyEarlyFault(behaviour, response)) return;
    const key = request.headers["x-api-key"] ?? "";
    const refusal = findRefusal(behaviour, key);
    if (refusal) return refuse(response, refusal);
    if (key !== apiKey) return refuse(response, WRONG_KEY);
    if (request.method === "GET" && request.path === "/v1/models") return sendJson(response, 200, LIST);
    const isCount = request.path === "/v1/messages/count_tokens";
    if (request.method !== "POST" || !(isCount || request.path === "/v1/messages"))
      return refuse(response, NOT_FOUND);
    const body = parse(request.body);
    const fault = findFault(request, body, models, isCount);
    if (fault || !body) return refuse(response, fault ?? NOT_FOUND);
    if (isCount)
      return sendJson(response, 200, { input_tokens: countInput(request.body.byteLength) }, behaviour);
    await reply({ request, response, exchange }, body, behaviour, cache);
  });
}

async function reply(
  { request, response, exchange }: Call,
  body: Body,
  behaviour: Behaviour,
  cache: PromptCache,
): Promise<void> {
  const message = makeReply(body, behaviour, request.body.byteLength, cache);
  const { fault } = behaviour;
  if (fault === "error-in-200")
    return sendJson(response, 200, { type: "error", error: { type: "api_error", message: "Oops" } });
  if (body["stream"] !== true || fault === "json-for-stream") {
    await sendJson(response, 200, writeWhole(message, behaviour), behaviour, HEADERS);
    if (response.isFinished) exchange.reportUsage(message.usage);
    return;
  }
  const isWhole = await sendFrames(response, writeFrames(message, behaviour), behaviour);
  if (isWhole && fault !== "error-frame-later" && fault !== "error-frame-first")
    exchange.reportUsage(message.usage);
}

interface Call {
  request: ReceivedRequest;
  response: SimulatedResponse;
  exchange: HttpExchange;
}

const HEADERS = { "request-id": REQUEST_ID };

function parse(bytes: Buffer): Body | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Anthropic API, "List models". */
const LIST = {
  data: [{ type: "model", id: "claude-haiku-4-5" }],
  has_more: true,
  first_id: null,
  last_id: null,
};
