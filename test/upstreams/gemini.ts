import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { applyEarlyFault, sendJson } from "./transport.ts";
import { sendReply } from "./gemini/reply.ts";
import {
  findRefusal,
  invalid,
  NO_KEY,
  refuse,
  unknownModel,
  WRONG_KEY,
  WRONG_TOKEN,
} from "./gemini/refusals.ts";
import { parseRequest } from "./gemini/rules.ts";
import { handleEmbeddings } from "./gemini/embeddings.ts";
import { handleText, refusing } from "./gemini/text.ts";
import { TEXT_MODELS } from "./gemini/text-models.table.ts";
import { readMarker, type Behaviour } from "./behaviour.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "AIzaSimulated0123456789abcdefghijklmnop";
export const SIMULATED_PROJECT = "simulated-project";

/** A simulated Gemini API at the address for API keys. It accepts the key only in the header for keys. */
export function startGemini(apiKey = SIMULATED_KEY): Promise<Simulator> {
  return startSimulator(async (request, response, exchange) => {
    const { "x-goog-api-key": key = "", authorization } = request.headers;
    const behaviour = exchange.takeBehaviour(() => markerOf(request));
    if (await applyEarlyFault(behaviour, response)) return;
    const refusal = findRefusal(behaviour, key);
    if (refusal) return refuse(response, refusal);
    if (key === "") return refuse(response, NO_KEY);
    if (key !== apiKey || authorization !== undefined) return refuse(response, WRONG_KEY);
    if (request.method === "GET" && request.path === "/v1beta/models")
      return sendJson(response, 200, {
        models: [{ name: "models/gemini-2.5-flash" }],
        nextPageToken: "next",
      });
    const rest = request.path.replace(/^\/v1beta\/models\//, "");
    await serve(rest, { request, response, exchange }, false);
  });
}

export interface VertexOptions {
  /** True when the access token is valid. */
  accepts(token: string): boolean;
  region?: string;
}

/** A simulated Vertex AI in one project and region. The credential is an access token. */
export function startVertex({ accepts, region = "global" }: VertexOptions): Promise<Simulator> {
  const models = `/v1beta1/projects/${SIMULATED_PROJECT}/locations/${region}/publishers/google/models/`;
  return startSimulator(async (request, response, exchange) => {
    const { authorization = "", "x-goog-api-key": key } = request.headers;
    const behaviour = exchange.takeBehaviour(() => markerOf(request));
    if (await applyEarlyFault(behaviour, response)) return;
    const refusal = findRefusal(behaviour, authorization);
    if (refusal) return refuse(response, refusal);
    const token = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? "";
    if (!accepts(token) || key !== undefined) return refuse(response, WRONG_TOKEN);
    const publisher = /^\/v1beta1\/publishers\/(google|anthropic)\/models$/.exec(request.path)?.[1];
    if (request.method === "GET" && publisher !== undefined)
      return sendPublished(publisher, request.query, response);
    const rest = request.path.startsWith(models) ? request.path.slice(models.length) : "";
    await serve(rest, { request, response, exchange }, true);
  });
}

const PUBLISHED: Readonly<Record<string, readonly string[]>> = {
  google: ["gemini-2.5-flash", "imagen-4.0-generate-001", "gemini-embedding-2", "gemini-3.1-flash-image"],
  anthropic: ["claude-opus-5"],
};

/** Sends a page with two models of a publisher (Vertex AI reference, `publishers.models.list`). */
function sendPublished(
  publisher: string,
  query: URLSearchParams,
  response: SimulatedResponse,
): Promise<void> {
  const names = PUBLISHED[publisher] ?? [];
  const offset = Number(query.get("pageToken") ?? "0");
  const end = offset + Math.min(2, Number(query.get("pageSize") ?? "2"));
  const publisherModels = names.slice(offset, end).map((name) => ({
    name: `publishers/${publisher}/models/${name}`,
    versionId: "001",
    launchStage: "GA",
  }));
  const next = end < names.length ? { nextPageToken: String(end) } : {};
  return sendJson(response, 200, { publisherModels, ...next });
}

interface Call {
  request: ReceivedRequest;
  response: SimulatedResponse;
  exchange: HttpExchange;
}

/** A prompt precedes files, so its marker is near the start of a request. */
const MARKED_BYTES = 1024 * 1024;

function markerOf({ body }: ReceivedRequest): Behaviour | undefined {
  return readMarker(body.toString("latin1", 0, MARKED_BYTES));
}

/** Handles a call of `{model}:{method}`. */
async function serve(path: string, call: Call, isVertex: boolean): Promise<void> {
  const [, model, method = ""] = /^([^/:]+):(\w+)$/.exec(path) ?? [];
  const isText = model !== undefined && TEXT_MODELS[model] !== undefined && TEXT_METHODS.has(method);
  if (isText && call.request.method === "POST") return handleText({ ...call, model, method, isVertex });
  if (model === "gemini-embedding-2" && method === "batchEmbedContents")
    return refusing(call, () => handleEmbeddings(model, call.response, call.exchange));
  await generate(method === "generateContent" ? model : undefined, call, isVertex);
}

const TEXT_METHODS: ReadonlySet<string> = new Set([
  "generateContent",
  "streamGenerateContent",
  "countTokens",
]);

async function generate(model: string | undefined, call: Call, isVertex: boolean): Promise<void> {
  const { request, response, exchange } = call;
  if (model === undefined) return refuse(response, unknownModel(request.path));
  if (request.method !== "POST") return refuse(response, invalid("POST is expected."));
  if (request.query.size > 0) return refuse(response, invalid("Nothing is expected in the query."));
  const parsed = parseRequest(request, decodeURIComponent(model), { isVertex });
  return "code" in parsed ? refuse(response, parsed) : sendReply(parsed, response, exchange);
}
