import { isStandardTier } from "../../domain/feature.ts";
import { exactMember } from "../../lib/parse-json.ts";
import { isObject } from "../../lib/json.ts";
import { readEffort } from "../conversation/reasoning.ts";
import type { Conversation, OutputFormat, TextPart } from "../conversation/request.ts";
import { readOwnNames, untranslatable } from "../conversation/untranslatable.ts";
import { readItems } from "./read-items.ts";
import { readToolChoice, readTools } from "./tools.ts";
import type { ResponsesPayload } from "./request.ts";

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads a request as a `Conversation` (the neutral form). The result also lists the hints and the fields of the request
 * that only this protocol has. Throws an `UpstreamError` that names a field whose value has no neutral form.
 */
export function readConversation({ raw, parsed }: ResponsesPayload): Conversation {
  const { body, isStream, maxTokens } = parsed;
  const { ownHints, ownFields } = readOwnNames(body, { known: KNOWN, hints: HINTS, neutral: NEUTRAL });
  const { instructions, text } = body;
  const { system, turns } = readItems(body["input"]);
  const first: TextPart[] =
    typeof instructions === "string" && instructions !== "" ? [{ type: "text", text: instructions }] : [];
  return {
    isStream,
    system: [...first, ...system],
    turns,
    tools: readTools({ ...body, tools: exactMember(raw, body, "tools") }),
    toolChoice: readToolChoice(body["tool_choice"]),
    parallelCalls: typed(body, "parallel_tool_calls", "boolean"),
    maxTokens,
    temperature: typed(body, "temperature", "number"),
    topP: typed(body, "top_p", "number"),
    topK: null,
    stop: [],
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    format: readFormat(isObject(text) ? text["format"] : null),
    reasoning: readReasoning(body["reasoning"]),
    logprobs: readLogprobs(body),
    verbosity: isObject(text) ? typed(text, "verbosity", "string") : null,
    user: typed(body, "safety_identifier", "string") ?? typed(body, "user", "string"),
    cacheKey: typed(body, "prompt_cache_key", "string"),
    ownHints,
    ownFields,
    params: {
      ...PARAMS,
      user: typeof body["safety_identifier"] === "string" ? "safety_identifier" : "user",
      logprobs: isIncluded(body) ? "include" : "top_logprobs",
    },
  };
}

/** The names of neutral fields and hints in this protocol. */
const PARAMS: Conversation["params"] = {
  system: "instructions",
  turns: "input",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelCalls: "parallel_tool_calls",
  maxTokens: "max_output_tokens",
  temperature: "temperature",
  topP: "top_p",
  format: "text.format",
  reasoning: "reasoning",
  reasoningVisibility: "reasoning.summary",
  logprobs: "top_logprobs",
  verbosity: "text.verbosity",
  user: "user",
  cacheKey: "prompt_cache_key",
  strict: "tools.strict",
  detail: "detail",
  fileName: "filename",
};

/** The value of `include` that requests log probabilities. */
export const LOGPROBS = "message.output_text.logprobs";

/** Fields that `readConversation` reads, and fields that only concern the gateway. */
const KNOWN: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "stream",
  "stream_options",
  "store",
  "background",
  "text",
  "include",
  "safety_identifier",
  ...Object.values(PARAMS),
]);

/**
 * Hints without a neutral form: labels, hints for caches, limits for the vendor's tools and for a long history (OpenAI
 * responses reference), and Codex's data about itself.
 */
const HINTS: ReadonlySet<string> = new Set([
  "client_metadata",
  "context_management",
  "max_tool_calls",
  "metadata",
  "prompt_cache_options",
  "prompt_cache_retention",
  "truncation",
]);

/** For each field, a test that returns true when the field's value requests nothing. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  service_tier: isStandardTier,
  truncation: (value) => value === "disabled",
};

function readLogprobs(body: Body): number | null {
  const alternatives = typed(body, "top_logprobs", "number") ?? 0;
  return isIncluded(body) || alternatives > 0 ? alternatives : null;
}

function isIncluded({ include }: Body): boolean {
  return Array.isArray(include) && include.includes(LOGPROBS);
}

interface Types {
  boolean: boolean;
  number: number;
  string: string;
}

/** Returns the value of a field; null when the value is absent or has another type. */
function typed<Name extends keyof Types>(body: Body, field: string, type: Name): Types[Name] | null {
  const value = body[field];
  return typeof value === type ? (value as Types[Name]) : null;
}

function readFormat(format: unknown): OutputFormat | null {
  if (!isObject(format) || format["type"] === "text") return null;
  if (format["type"] === "json_object") return { type: "json" };
  const { name, schema, strict, description } = format;
  if (format["type"] !== "json_schema" || !isObject(schema)) throw untranslatable("text.format");
  return {
    type: "schema",
    name: typeof name === "string" ? name : null,
    schema,
    strict: typeof strict === "boolean" ? strict : null,
    description: typeof description === "string" ? description : null,
  };
}

function readReasoning(value: unknown): Conversation["reasoning"] {
  if (!isObject(value)) return null;
  const { effort, summary, mode } = value;
  if (mode !== undefined && mode !== null && mode !== "standard") throw untranslatable("reasoning.mode");
  const isEffortSet = effort !== undefined && effort !== null;
  const read = readEffort(effort);
  if (isEffortSet && read === null) throw untranslatable("reasoning.effort");
  const isVisible = typeof (summary ?? value["generate_summary"]) === "string" ? true : null;
  if (read === null && isVisible === null) return null;
  return { effort: read, budgetTokens: null, isVisible };
}
