import { parseAroundObjects } from "../../../lib/parse-json.ts";
import { isStreamedObject, type StreamedObject } from "../../../lib/json-spool.ts";
import { OpenTurns } from "../../conversation/open-turns.ts";
import { readEffort, type Reasoning } from "../../conversation/reasoning.ts";
import type { Conversation, OutputFormat, Turn } from "../../conversation/request.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import {
  findField,
  findObject,
  findObjects,
  findText,
  namesOf,
  otherTiers,
  unknownNames,
} from "../fields.ts";
import { PartReader } from "./read-parts.ts";
import { configOf, type NativePayload, numberIn } from "./request.ts";
import { readSchema, readTools } from "./tools.ts";

const KNOWN = namesOf([
  "model",
  "contents",
  "systemInstruction",
  "generationConfig",
  "tools",
  "toolConfig",
  "safetySettings",
  "labels",
  "serviceTier",
  "store",
]);

/** Reads a request as a neutral `Conversation`. Throws an `UpstreamError` for a value without a neutral form. */
export function readConversation({ raw, parsed }: NativePayload): Conversation {
  const { body, isStream, choices } = parsed;
  refuseFilters(body);
  if (choices > 1) throw untranslatable("generationConfig.candidateCount");
  const exact = CALL_NAMES.some((name) => raw.includes(name)) ? exactCalls(raw) : body;
  const parts = new PartReader();
  const instruction = findObject(exact, "systemInstruction");
  return {
    isStream,
    system: instruction ? parts.readTexts(instruction.value, instruction.key) : [],
    turns: readTurns(exact, parts),
    ...readTools(body),
    parallelCalls: null,
    ...readConfig(body),
    logprobs: null,
    verbosity: null,
    user: null,
    cacheKey: null,
    ownHints: ownHintsOf(body),
    ownFields: [
      ...unknownNames(body, KNOWN),
      ...unknownNames(configOf(body), KNOWN_CONFIG).map((name) => `generationConfig.${name}`),
      ...otherTiers(body, configOf(body)),
    ],
    params: PARAMS,
  };
}

/** A request with tool calls or results contains at least one of these texts, even if the names are escaped. */
const CALL_NAMES = [
  '"functionCall"',
  '"function_call"',
  '"functionResponse"',
  '"function_response"',
  "\\u00",
];

/** Returns the body with arguments and results as `{ text }`, which keeps the exact JSON text of each value. */
function exactCalls(raw: string): StreamedObject {
  return parseAroundObjects(raw, new Set(["args", "response"])) as StreamedObject;
}

/** Reads contents as turns. Joins successive contents of the same side. */
function readTurns(body: StreamedObject, parts: PartReader): Turn[] {
  const turns = new OpenTurns();
  for (const [index, content] of (findObjects(body, "contents")?.value ?? []).entries()) {
    const path = `contents[${index}]`;
    const role = findText(content, "role") ?? "user";
    const turn: Turn =
      role === "model"
        ? { role: "assistant", parts: parts.readAssistant(content, path) }
        : { role: "user", parts: parts.readUser(content, path) };
    // `function` is an older role for turns with tool results.
    if (role !== "model" && role !== "user" && role !== "function") throw untranslatable(`${path}.role`);
    turns.add(turn);
  }
  return turns.close();
}

/** Returns used hints that no other protocol has: labels for billing and the resolution of pictures. */
function ownHintsOf(body: StreamedObject): string[] {
  const { value: labels } = findObject(body, "labels") ?? {};
  return [
    ...(labels && Object.keys(labels).length > 0 ? ["labels"] : []),
    ...(findField(configOf(body), "mediaResolution") ? ["generationConfig.mediaResolution"] : []),
  ];
}

/** The names of neutral fields and hints in this protocol. */
const PARAMS: Conversation["params"] = {
  system: "systemInstruction",
  turns: "contents",
  tools: "tools",
  toolChoice: "toolConfig",
  maxTokens: "generationConfig.maxOutputTokens",
  temperature: "generationConfig.temperature",
  topP: "generationConfig.topP",
  topK: "generationConfig.topK",
  stop: "generationConfig.stopSequences",
  seed: "generationConfig.seed",
  presencePenalty: "generationConfig.presencePenalty",
  frequencyPenalty: "generationConfig.frequencyPenalty",
  format: "generationConfig.responseMimeType",
  reasoning: "generationConfig.thinkingConfig",
  reasoningVisibility: "generationConfig.thinkingConfig.includeThoughts",
};

/** Throws for filters that block content, which other protocols' vendors cannot apply. Disabled ones are allowed. */
function refuseFilters(body: StreamedObject): void {
  for (const [index, setting] of (findObjects(body, "safetySettings")?.value ?? []).entries()) {
    const threshold = findText(setting, "threshold") ?? "";
    if (!OFF.has(threshold)) throw untranslatable(`safetySettings[${index}].threshold`);
  }
}

const OFF: ReadonlySet<string> = new Set(["", "OFF", "BLOCK_NONE", "HARM_BLOCK_THRESHOLD_UNSPECIFIED"]);

const KNOWN_CONFIG = namesOf([
  "responseLogprobs",
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

/** Reads `generationConfig`, whose types were already checked. Throws for a known setting without a neutral form. */
function readConfig(body: StreamedObject): Settings {
  const config = configOf(body);
  // Only the value true requests log probabilities. A request for them in this protocol has no neutral form.
  const { responseLogprobs: isLogged, response_logprobs: isLoggedToo } = config;
  if (isLogged === true || isLoggedToo === true) throw untranslatable("generationConfig.responseLogprobs");
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

/** Reads the requested reasoning. A budget of 0 means none; with -1 or no budget, the level or the model decides. */
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
