import { applyEarlyFault, sendJson } from "./transport.ts";
import { handleChat } from "./openai/chat.ts";
import { handleInputTokens, handleResponses } from "./openai/responses.ts";
import { handleEmbeddings } from "./openai/embeddings.ts";
import { handleImages } from "./openai/images.ts";
import { findRefusal, refuse, UNKNOWN_URL, WRONG_KEY } from "./openai/refusals.ts";
import { readMarker } from "./behaviour.ts";
import { startSimulator, type Simulator, type Vendor } from "./simulator.ts";

export interface OpenAiOptions {
  /** The accepted key. `otherKeys` are accepted too. */
  apiKey?: string;
  otherKeys?: readonly string[];
  chatModels?: readonly string[];
  imageModels?: readonly string[];
  /** The account whose encrypted reasoning can be decrypted. */
  account?: string;
}

export const SIMULATED_KEY = "sk-simulated-0123456789abcdef";

/** A prompt precedes files, so its marker is near the start of a request. */
const MARKED_BYTES = 1024 * 1024;

const DEFAULTS = {
  apiKey: SIMULATED_KEY,
  otherKeys: [] as readonly string[],
  account: "one",
  chatModels: ["gpt-5.4", "gpt-5.4-mini", "gpt-4.1"],
  imageModels: ["gpt-image-2", "gpt-image-2.5-flare", "gpt-image-2.5-sunburst"],
};

/**
 * A simulated OpenAI that refuses what the vendor refuses: unknown fields, wrong types, sizes, keys and models. The
 * base address for a channel is `{url}/v1`.
 */
export function startOpenAi(options: OpenAiOptions = {}): Promise<Simulator> {
  return startSimulator(createOpenAi({ ...DEFAULTS, ...options }));
}

function createOpenAi(options: Required<OpenAiOptions>): Vendor {
  const { apiKey, otherKeys, chatModels, imageModels, account } = options;
  const accepted = new Set([apiKey, ...otherKeys].map((key) => `Bearer ${key}`));
  return async (request, response, exchange) => {
    const authorization = request.headers["authorization"] ?? "";
    const behaviour = exchange.takeBehaviour(() =>
      readMarker(request.body.toString("latin1", 0, MARKED_BYTES)),
    );
    if (await applyEarlyFault(behaviour, response)) return;
    const refusal = findRefusal(behaviour, authorization);
    if (refusal) return refuse(response, refusal);
    if (!accepted.has(authorization)) return refuse(response, WRONG_KEY);
    if (request.method === "GET" && request.path === "/v1/models")
      return sendJson(response, 200, listOf([...chatModels, ...imageModels]));
    if (request.method !== "POST") return refuse(response, UNKNOWN_URL);
    switch (request.path) {
      case "/v1/chat/completions":
        return handleChat(request, response, exchange, chatModels);
      case "/v1/responses":
        return handleResponses(request, response, exchange, { models: chatModels, account });
      case "/v1/responses/input_tokens":
        return handleInputTokens(request, response, { models: chatModels, account });
      case "/v1/images/generations":
      case "/v1/images/edits":
        return handleImages(request, response, exchange, imageModels);
      case "/v1/embeddings":
        return handleEmbeddings(request, response, exchange);
      default:
        return refuse(response, UNKNOWN_URL);
    }
  };
}

/** Returns a list of models (OpenAI API reference, "List models"). */
function listOf(ids: readonly string[]): object {
  return { object: "list", data: ids.map((id) => ({ id, object: "model", created: 1, owned_by: "openai" })) };
}
