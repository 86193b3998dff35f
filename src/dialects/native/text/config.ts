import type { StreamedObject } from "../../../lib/json-spool.ts";
import { isStreamedObject } from "../../../lib/json-spool.ts";
import { readEffort, type Reasoning } from "../../conversation/reasoning.ts";
import type { Conversation, OutputFormat } from "../../conversation/request.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import { findField, findObject, findText } from "../fields.ts";
import { namesOf, refuseUnknown } from "./known-fields.ts";
import { configOf, numberIn } from "./request.ts";
import { readSchema } from "./schema.ts";

const KNOWN = namesOf([
  "candidateCount",
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "thinkingConfig",
  "serviceTier",
  // Only how many tokens a picture takes.
  "mediaResolution",
]);

type Settings = Pick<
  Conversation,
  | "maxTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "stop"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "format"
  | "reasoning"
>;

/** Reads `generationConfig`, whose types have been checked. Throws for what other protocols lack. */
export function readConfig(body: StreamedObject): Settings {
  const config = configOf(body);
  // Printing probabilities is off unless it is requested.
  const { responseLogprobs: isLogged, response_logprobs: isLoggedToo, ...rest } = config;
  if (isLogged === true || isLoggedToo === true) throw untranslatable("generationConfig.responseLogprobs");
  refuseUnknown(rest, KNOWN, "generationConfig");
  const modalities = findField(config, "responseModalities")?.value;
  if (Array.isArray(modalities) && modalities.some((each) => each !== "TEXT"))
    throw untranslatable("generationConfig.responseModalities");
  const stop = findField(config, "stopSequences")?.value;
  return {
    maxTokens: numberIn(config, "maxOutputTokens"),
    temperature: numberIn(config, "temperature"),
    topP: numberIn(config, "topP"),
    topK: numberIn(config, "topK"),
    stop: Array.isArray(stop) ? stop.filter((each) => typeof each === "string") : [],
    seed: numberIn(config, "seed"),
    presencePenalty: numberIn(config, "presencePenalty"),
    frequencyPenalty: numberIn(config, "frequencyPenalty"),
    format: readFormat(config),
    reasoning: readReasoning(config),
  };
}

function readFormat(config: StreamedObject): OutputFormat | null {
  const type = findText(config, "responseMimeType") ?? "text/plain";
  if (type === "text/plain") return null;
  if (type !== "application/json") throw untranslatable("generationConfig.responseMimeType");
  const plain = findField(config, "responseJsonSchema")?.value;
  const own = findObject(config, "responseSchema")?.value;
  const schema = isStreamedObject(plain) ? plain : own && readSchema(own);
  if (schema === undefined) return { type: "json" };
  return { type: "schema", name: null, schema, strict: null, description: null };
}

/** A budget of -1 leaves it to the model, as no budget does; zero is none at all. */
function readReasoning(config: StreamedObject): Reasoning | null {
  const thinking = findObject(config, "thinkingConfig")?.value;
  if (!thinking) return null;
  const budget = numberIn(thinking, "thinkingBudget");
  const level = readEffort(findText(thinking, "thinkingLevel")?.toLowerCase());
  const visible = findField(thinking, "includeThoughts")?.value;
  return {
    effort: budget === 0 ? "none" : level,
    budgetTokens: budget !== null && budget > 0 ? budget : null,
    isVisible: typeof visible === "boolean" ? visible : null,
  };
}
