import { isStandardTier } from "../../domain/feature.ts";
import { exactMember } from "../../lib/parse-json.ts";
import { isObject } from "../../lib/json.ts";
import { readEffort } from "../conversation/reasoning.ts";
import type { Conversation, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import { readOwnNames, untranslatable } from "../conversation/untranslatable.ts";
import { readMessages } from "./read-messages.ts";
import type { ChatPayload } from "./request.ts";

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads a chat request as a `Conversation` (the neutral form). The result also lists the hints and the fields of the
 * request that only chat has. Throws an `UpstreamError` that names a field whose value has no neutral form.
 */
export function readConversation({ raw, parsed }: ChatPayload): Conversation {
  const { body, isStream, maxTokens, choices } = parsed;
  if (choices > 1) throw untranslatable(body["n"] === choices ? "n" : "best_of");
  const { ownHints, ownFields } = readOwnNames(body, { known: KNOWN, hints: HINTS, neutral: NEUTRAL });
  if (body["logprobs"] !== true && (body["top_logprobs"] ?? 0) !== 0) ownFields.push("top_logprobs");
  const { system, turns, hasNames } = readMessages(body["messages"]);
  if (hasNames) ownHints.push("messages.name");
  return {
    isStream,
    system,
    turns,
    tools: listOf(exactMember(raw, body, "tools")).map(readTool),
    toolChoice: readToolChoice(body["tool_choice"]),
    parallelCalls: typed(body, "parallel_tool_calls", "boolean"),
    maxTokens,
    temperature: typed(body, "temperature", "number"),
    topP: typed(body, "top_p", "number"),
    topK: typed(body, "top_k", "number"),
    stop: readStop(body["stop"]),
    seed: typed(body, "seed", "number"),
    presencePenalty: typed(body, "presence_penalty", "number"),
    frequencyPenalty: typed(body, "frequency_penalty", "number"),
    format: readFormat(body["response_format"]),
    reasoning: readReasoning(body),
    logprobs: body["logprobs"] === true ? (typed(body, "top_logprobs", "number") ?? 0) : null,
    verbosity: typed(body, "verbosity", "string"),
    user: typed(body, "safety_identifier", "string") ?? typed(body, "user", "string"),
    cacheKey: typed(body, "prompt_cache_key", "string"),
    ownHints,
    ownFields,
    params: {
      ...PARAMS,
      maxTokens: isSet(body["max_tokens"]) ? "max_tokens" : "max_completion_tokens",
      reasoning: isSet(body["reasoning_effort"]) ? "reasoning_effort" : "reasoning",
      user: isSet(body["safety_identifier"]) ? "safety_identifier" : "user",
    },
  };
}

/** The names of neutral fields and hints in chat. */
const PARAMS: Conversation["params"] = {
  system: "messages",
  turns: "messages",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelCalls: "parallel_tool_calls",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: "stop",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  format: "response_format",
  reasoning: "reasoning_effort",
  reasoningVisibility: "reasoning.exclude",
  logprobs: "logprobs",
  verbosity: "verbosity",
  user: "user",
  cacheKey: "prompt_cache_key",
  strict: "tools.strict",
  cacheControl: "cache_control",
  detail: "detail",
  fileName: "filename",
};

/** Fields that `readConversation` reads, and fields that only concern the gateway. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(PARAMS),
  "model",
  "n",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "reasoning",
  "top_logprobs",
  "store",
  "safety_identifier",
]);

/**
 * Hints without a neutral form: labels, hints for caches and speed (OpenAI reference), and sampling settings that only
 * `chat` vendors have (OpenRouter and vLLM API references).
 */
const HINTS: ReadonlySet<string> = new Set([
  "metadata",
  "min_p",
  "prediction",
  "prompt_cache_options",
  "prompt_cache_retention",
  "repetition_penalty",
  "top_a",
]);

/** For each field, a test that returns true when the field's value requests nothing. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  logit_bias: (value) => isObject(value) && Object.keys(value).length === 0,
  modalities: (value) => Array.isArray(value) && value.every((each) => each === "text"),
  service_tier: isStandardTier,
  functions: (value) => Array.isArray(value) && value.length === 0,
};

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

interface Types {
  boolean: boolean;
  number: number;
  string: string;
}

/** Returns the value of a field, or null when the field is absent. Throws if the value has another type. */
function typed<Name extends keyof Types>(body: Body, field: string, type: Name): Types[Name] | null {
  const value = body[field];
  if (!isSet(value)) return null;
  if (typeof value !== type) throw untranslatable(field, `It must be a ${type}.`);
  return value as Types[Name];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readStop(value: unknown): readonly string[] {
  const texts = typeof value === "string" ? [value] : listOf(value);
  return texts.filter((text) => typeof text === "string");
}

function readTool(tool: unknown, index: number): Tool {
  const type = isObject(tool) ? tool["type"] : undefined;
  const definition = isObject(tool) && typeof type === "string" ? tool[type] : undefined;
  if ((type !== "function" && type !== "custom") || !isObject(tool) || !isObject(definition))
    throw untranslatable(`tools[${index}].type`);
  const { name, description, parameters, strict, format } = definition;
  if (typeof name !== "string") throw untranslatable(`tools[${index}].${type}.name`, "It must be a string.");
  const { cache_control: cacheControl } = tool;
  return {
    kind: type,
    name,
    description: typeof description === "string" ? description : null,
    parameters: isObject(parameters) ? parameters : null,
    strict: typeof strict === "boolean" ? strict : null,
    ...(isSet(format) && { format: readGrammar(format) }),
    ...(isObject(cacheControl) && { cacheControl }),
  };
}

/** Reads a grammar. Chat nests it one level deeper than the neutral form. */
function readGrammar(format: unknown): unknown {
  return isObject(format) && isObject(format["grammar"]) ? { type: "grammar", ...format["grammar"] } : format;
}

function readToolChoice(value: unknown): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (!isObject(value)) throw untranslatable("tool_choice");
  const name = nameOf(value);
  if (name !== undefined) return { type: "tool", name };
  const allowed = value["allowed_tools"];
  if (value["type"] !== "allowed_tools" || !isObject(allowed)) throw untranslatable("tool_choice");
  const names = listOf(allowed["tools"]).map((tool) => {
    const found = isObject(tool) ? nameOf(tool) : undefined;
    if (found === undefined) throw untranslatable("tool_choice.allowed_tools.tools");
    return found;
  });
  return { type: "allowed", mode: allowed["mode"] === "required" ? "required" : "auto", names };
}

function nameOf(tool: Body): string | undefined {
  const { type } = tool;
  const named = type === "function" || type === "custom" ? tool[type] : undefined;
  const name = isObject(named) ? named["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function readFormat(value: unknown): OutputFormat | null {
  if (!isObject(value) || value["type"] === "text") return null;
  if (value["type"] === "json_object") return readJsonFormat(value["schema"]);
  const format = value["json_schema"];
  if (value["type"] !== "json_schema" || !isObject(format)) throw untranslatable("response_format");
  const { name, schema, strict, description } = format;
  if (!isObject(schema)) throw untranslatable("response_format.json_schema.schema");
  return {
    type: "schema",
    name: typeof name === "string" ? name : null,
    schema,
    strict: typeof strict === "boolean" ? strict : null,
    description: typeof description === "string" ? description : null,
  };
}

/**
 * Reads the format `json_object`. Some vendors and their clients add a schema (Fireworks AI, "Structured responses").
 */
function readJsonFormat(schema: unknown): OutputFormat {
  if (!isSet(schema)) return { type: "json" };
  if (!isObject(schema)) throw untranslatable("response_format.schema");
  return { type: "schema", name: null, schema, strict: null, description: null };
}

/**
 * Reads `reasoning_effort` and OpenRouter's `reasoning`. `reasoning` may also contain a budget. Its field `exclude`
 * hides the reasoning (OpenRouter API, "Reasoning tokens").
 */
function readReasoning({ reasoning_effort: word, reasoning: object }: Body): Conversation["reasoning"] {
  const { effort: inner, max_tokens: budget, exclude, enabled } = isObject(object) ? object : {};
  if (isSet(object) && !isObject(object)) throw untranslatable("reasoning", "It must be an object.");
  if (!isSet(word) && Object.keys(object ?? {}).length === 0) return null;
  const named = isSet(word) ? word : inner;
  const effort = enabled === false && !isSet(named) ? "none" : readEffort(named);
  if (isSet(named) && effort === null)
    throw untranslatable(isSet(word) ? "reasoning_effort" : "reasoning.effort");
  return {
    effort,
    budgetTokens: typeof budget === "number" ? budget : null,
    isVisible: typeof exclude === "boolean" ? !exclude : null,
  };
}
