import { strikeFirst } from "./delivery.ts";
import { handleChat } from "./openai/chat.ts";
import { handleImages } from "./openai/images.ts";
import { findRefusal, refuse, UNKNOWN_URL, WRONG_KEY } from "./openai/refusals.ts";
import { readMarker } from "./plan.ts";
import { startSimulator, type Simulator, type Vendor } from "./simulator.ts";

export interface OpenAiOptions {
  /** The only key that is let in. */
  apiKey?: string;
  chatModels?: readonly string[];
  imageModels?: readonly string[];
}

export const SIMULATED_KEY = "sk-simulated-0123456789abcdef";

/** Prompts stand before files, so a marker is near the beginning. */
const MARKED_BYTES = 1024 * 1024;

const DEFAULTS = {
  apiKey: SIMULATED_KEY,
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

function createOpenAi({ apiKey, chatModels, imageModels }: Required<OpenAiOptions>): Vendor {
  return async (request, answer, exchange) => {
    const authorization = request.headers["authorization"] ?? "";
    const plan = exchange.takePlan(readMarker(request.body.toString("latin1", 0, MARKED_BYTES)));
    if (await strikeFirst(plan, answer)) return;
    const refusal = findRefusal(plan, authorization);
    if (refusal) return refuse(answer, refusal);
    if (authorization !== `Bearer ${apiKey}`) return refuse(answer, WRONG_KEY);
    if (request.method !== "POST") return refuse(answer, UNKNOWN_URL);
    switch (request.path) {
      case "/v1/chat/completions":
        return handleChat(request, answer, exchange, chatModels);
      case "/v1/images/generations":
      case "/v1/images/edits":
        return handleImages(request, answer, exchange, imageModels);
      default:
        return refuse(answer, UNKNOWN_URL);
    }
  };
}
