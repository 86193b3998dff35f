import { isObject } from "../../src/lib/json.ts";
import { writeWhole } from "./anthropic/frames.ts";
import type { Refusal } from "./anthropic/refusals.ts";
import { makeReply, type PromptCache } from "./anthropic/reply.ts";
import { findFault, type Body, type SimulatedModel } from "./anthropic/rules.ts";
import { readMarker, type Behaviour } from "./behaviour.ts";
import { cutAnywhere, writeEventStream, type InvocationMetrics } from "./bedrock/frames.ts";
import { findSignatureFault, type SimulatedAccessKey } from "./bedrock/signature.ts";
import type { ReceivedRequest, SimulatedResponse } from "./http-server.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";
import { applyEarlyFault, sendFrames, sendJson } from "./transport.ts";

export const SIMULATED_API_KEY = "bedrock-api-key-simulated0123456789";
export const SIMULATED_ACCESS_KEY: SimulatedAccessKey = {
  accessKeyId: "AKIASIMULATED0123456",
  secretAccessKey: "simulated/secret+0123456789abcdefghijklmn",
  sessionToken: "simulatedSessionToken0123456789==",
};
export const REQUEST_ID = "5f9f0cf4-0000-4000-8000-simulated001";

const REGION = "eu-central-1";
const MARKED_BYTES = 1024 * 1024;

/** Models by the id of a model or an inference profile. The last id ends with a version. */
const MODELS: Readonly<Record<string, SimulatedModel>> = {
  "global.anthropic.claude-opus-5": { thinking: "adaptive", maxTokens: 128_000 },
  "global.anthropic.claude-haiku-4-5-20251001-v1:0": { thinking: "enabled", maxTokens: 64_000 },
};

/**
 * A simulated Bedrock in eu-central-1 with one API key, and one temporary access key whose signatures are verified. It
 * refuses what Anthropic refuses, and also a wrong `anthropic_version`, links to pictures, and the fields `model` and
 * `stream`, which are part of the address. The base address for a channel is `{url}`.
 */
export function startBedrock(): Promise<Simulator> {
  const cache: PromptCache = new Set();
  return startSimulator(async (request, response, exchange) => {
    const behaviour = exchange.takeBehaviour(() =>
      readMarker(request.body.toString("latin1", 0, MARKED_BYTES)),
    );
    if (await applyEarlyFault(behaviour, response)) return;
    const trouble = findTrouble(behaviour, request);
    if (trouble) return refuse(response, trouble, behaviour);
    const list = request.method === "GET" && listOf(request);
    if (list) return sendJson(response, 200, list, {}, IDS);
    const [, id = "", operation] =
      /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/.exec(request.path) ?? [];
    if (request.method !== "POST" || operation === undefined)
      return refuse(response, { status: 404, type: "UnknownOperationException", message: "" });
    const model = decodeURIComponent(id);
    const body = parse(request);
    const fault = findBodyFault(request, body, model);
    if (fault || !body) return refuse(response, fault ?? invalid("Malformed input request"));
    const call = { response, exchange, behaviour };
    await reply(call, { ...body, model: shortName(model) }, operation === "invoke", cache);
  });
}

const REGION_OF_MODELS = "arn:aws:bedrock:eu-central-1";

/**
 * Returns one of Amazon Bedrock's lists, with models of several vendors; null for any other path (Amazon Bedrock API
 * reference).
 */
function listOf({ path, query }: ReceivedRequest): object | null {
  if (path === "/foundation-models") {
    const isAsked = query.get("byProvider") === "anthropic" && query.get("byInferenceType") === "ON_DEMAND";
    const ids = ["anthropic.claude-haiku-4-5-20251001-v1:0", ...(isAsked ? [] : ["amazon.nova-pro-v1:0"])];
    return {
      modelSummaries: ids.map((modelId) => ({
        modelId,
        modelArn: `${REGION_OF_MODELS}::foundation-model/${modelId}`,
      })),
    };
  }
  if (path !== "/inference-profiles") return null;
  return {
    inferenceProfileSummaries: [...Object.keys(MODELS), "eu.amazon.nova-pro-v1:0"].map((id) => ({
      inferenceProfileId: id,
      models: [{ modelArn: `${REGION_OF_MODELS}::foundation-model/${id.replace(/^\w+\./, "")}` }],
      status: "ACTIVE",
      type: "SYSTEM_DEFINED",
    })),
  };
}

interface Call {
  response: SimulatedResponse;
  exchange: HttpExchange;
  behaviour: Behaviour;
}

async function reply(
  { response, exchange, behaviour }: Call,
  body: Body,
  isWhole: boolean,
  cache: PromptCache,
) {
  const bytes = JSON.stringify(body).length;
  const message = makeReply(body, behaviour, bytes, cache);
  const { fault } = behaviour;
  if (isWhole || fault === "json-for-stream") {
    const whole = { ...writeWhole(message, behaviour), "amazon-bedrock-guardrailAction": "NONE" };
    await sendJson(response, 200, whole, behaviour, IDS);
    if (response.isFinished) exchange.reportUsage(message.usage);
    return;
  }
  // The last event has counts of its own, even if the model's usage report is missing.
  const { usage } =
    fault === "no-usage" ? makeReply(body, { ...behaviour, fault: undefined }, bytes, new Set()) : message;
  const metrics = metricsOf(usage);
  const messages = writeEventStream(message, metrics, behaviour);
  const pieces = fault === undefined ? cutAnywhere(messages) : messages;
  const headers = { "content-type": "application/vnd.amazon.eventstream", ...IDS };
  const isSent = await sendFrames(response, pieces, behaviour, headers);
  if (isSent && !fault?.startsWith("error-frame")) exchange.reportUsage(usage);
}

function metricsOf(usage: unknown): InvocationMetrics {
  const { input_tokens: input, output_tokens: output } = isObject(usage) ? usage : {};
  return {
    inputTokenCount: Number(input),
    outputTokenCount: Number(output),
    invocationLatency: 812,
    firstByteLatency: 401,
  };
}

const IDS = { "x-amzn-requestid": REQUEST_ID };

async function refuse(
  response: SimulatedResponse,
  { status, type, message, headers }: Refusal,
  { retryAfter }: Behaviour = {},
): Promise<void> {
  const retry: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  const all = {
    ...IDS,
    "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/`,
    ...retry,
    ...headers,
  };
  await sendJson(response, status, { message }, {}, all);
}

function invalid(message: string): Refusal {
  return { status: 400, type: "ValidationException", message };
}

/** Returns the error for the behaviour's fault or for the credential. */
function findTrouble(
  { fault, status = 500, code, text }: Behaviour,
  request: ReceivedRequest,
): Refusal | undefined {
  const { authorization = "", "x-amz-security-token": token = "" } = request.headers;
  if (fault === "echo-authorization")
    return invalid(`Bad header: ${authorization} ${token}. Send another one.`);
  if (fault === "error-status")
    return {
      status,
      type: code ?? "InternalServerException",
      message: text?.replaceAll("_", " ") ?? "Trouble",
    };
  if (fault === "rate-limited")
    return {
      status: 429,
      type: "ThrottlingException",
      message: "Too many tokens, please wait before trying again.",
    };
  if (fault === "context-length") return invalid("Input is too long for requested model.");
  if (authorization === `Bearer ${SIMULATED_API_KEY}`) return undefined;
  if (authorization.startsWith("Bearer "))
    return {
      status: 403,
      type: "AccessDeniedException",
      message: "Authentication failed: check your API Key.",
    };
  const type = findSignatureFault(request, SIMULATED_ACCESS_KEY, REGION);
  return type === undefined
    ? undefined
    : { status: 403, type, message: `Signature of ${authorization} is wrong.` };
}

function findBodyFault(request: ReceivedRequest, body: Body | undefined, model: string): Refusal | undefined {
  if (!body || request.headers["content-type"] !== "application/json")
    return invalid("Malformed input request");
  for (const name of ["model", "stream"])
    if (name in body)
      return invalid(
        `Malformed input request: #: extraneous key [${name}] is not permitted, please reformat`,
      );
  if (!MODELS[model]) return invalid("The provided model identifier is invalid.");
  const { anthropic_version: version, anthropic_beta: betas = [], ...rest } = body;
  if (version !== "bedrock-2023-05-31") return invalid("anthropic_version: Invalid API version");
  if (!Array.isArray(betas) || betas.some((beta) => !/^[a-z0-9-]+$/.test(String(beta))))
    return invalid("anthropic_beta: Input should be a list of betas");
  if (hasLink(body)) return invalid("messages.0.content.0.image.source: URL sources are not supported");
  const headers = {
    ...request.headers,
    "anthropic-version": "2023-06-01",
    "anthropic-beta": betas.join(","),
  };
  const fault = findFault({ ...request, headers }, { ...rest, model }, MODELS, false);
  return fault && invalid(fault.message);
}

/** True when the source of a block is a link. */
export function hasLink(body: Body): boolean {
  return /"source":\{[^{}]*"type":"url"/.test(JSON.stringify(body));
}

/** Returns the name that the model has in replies. */
function shortName(id: string): string {
  return id.replace(/^.*anthropic\./, "").replace(/-v\d+:\d+$/, "");
}

function parse({ body }: ReceivedRequest): Body | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
