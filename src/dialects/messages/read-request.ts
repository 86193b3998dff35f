import { isStandardTier } from "../../domain/feature.ts";
import { exactMember } from "../../lib/parse-json.ts";
import { isObject, scanArray } from "../../lib/json.ts";
import type { Conversation, OutputFormat, TextPart, Turn } from "../conversation/request.ts";
import { readOwnNames, untranslatable } from "../conversation/untranslatable.ts";
import { memberText, rawInputs, readAssistantParts, readTexts, readUserParts } from "./read-blocks.ts";
import type { MessagesPayload } from "./request.ts";
import { readThinking } from "./thinking.ts";
import { readToolChoice, readTools } from "./tools.ts";

/** The names of neutral fields and hints in this protocol. */
const PARAMS: Conversation["params"] = {
  system: "system",
  turns: "messages",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelCalls: "tool_choice.disable_parallel_tool_use",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: "stop_sequences",
  format: "output_config.format",
  reasoning: "thinking",
  reasoningVisibility: "thinking.display",
  user: "metadata.user_id",
  strict: "tools.strict",
  cacheControl: "cache_control",
  fileName: "title",
};
const BY_EFFORT = { ...PARAMS, reasoning: "output_config.effort" };

/** Fields that `readConversation` reads. */
const KNOWN: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "system",
  "tools",
  "tool_choice",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "thinking",
  "output_config",
  "output_format",
  "metadata",
]);

/** Hints without a neutral form: labels, caches, long histories (Anthropic API reference, "Create a Message"). */
const HINTS: ReadonlySet<string> = new Set([
  "cache_control",
  "context_management",
  "diagnostics",
  "user_profile_id",
  "workspace_id",
]);

/** For each field, a test that returns true when the field's value requests nothing. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  service_tier: isStandardTier,
  speed: isStandardTier,
};

/** Matches Claude Code's text about itself. Anthropic removes a block with this text (Claude Code, "LLM gateways"). */
const ATTRIBUTION = /^x-anthropic-billing-header:/;

/** Reads a request as a neutral `Conversation`. Throws an `UpstreamError` for a value without a neutral form. */
export function readConversation({ raw, parsed }: MessagesPayload): Conversation {
  const { body, isStream, maxTokens } = parsed;
  const { ownHints, ownFields } = readOwnNames(body, { known: KNOWN, hints: HINTS, neutral: NEUTRAL });
  const { metadata, stop_sequences: stop } = body;
  return {
    isStream,
    system: readSystem(body["system"]),
    turns: readTurns(raw, body["messages"]),
    tools: readTools(exactMember(raw, body, "tools")),
    ...readToolChoice(body["tool_choice"]),
    maxTokens,
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    topK: numberOf(body["top_k"]),
    stop: Array.isArray(stop) ? stop.filter((each) => typeof each === "string") : [],
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    format: readFormat(body),
    reasoning: readThinking(body),
    logprobs: null,
    verbosity: null,
    user: isObject(metadata) && typeof metadata["user_id"] === "string" ? metadata["user_id"] : null,
    cacheKey: null,
    ownHints,
    ownFields,
    params: isObject(body["thinking"]) ? PARAMS : BY_EFFORT,
  };
}

function readSystem(system: unknown): TextPart[] {
  const parts = readTexts(system, "system");
  return ATTRIBUTION.test(parts[0]?.text ?? "") ? parts.slice(1) : parts;
}

function readTurns(raw: string, messages: unknown): Turn[] {
  if (!Array.isArray(messages)) return [];
  const text = memberText(raw, "messages") ?? "[]";
  const spans = scanArray(text);
  return messages.filter(isObject).map(({ role, content }, index): Turn => {
    const path = `messages[${index}].content`;
    if (role === "user") return { role, parts: readUserParts(content, path) };
    if (role === "system") return { role, parts: readTexts(content, path) };
    if (role !== "assistant") throw untranslatable(`messages[${index}].role`);
    const { start, end } = spans[index] ?? { start: 0, end: 0 };
    const inputs = rawInputs(text.slice(start, end), content);
    return { role, parts: readAssistantParts(content, path, (block) => inputs.get(block) ?? "{}") };
  });
}

/** Reads the requested format. Older clients send the format in the top-level field `output_format`. */
function readFormat({
  output_config: config,
  output_format: older,
}: Record<string, unknown>): OutputFormat | null {
  const format = (isObject(config) ? config["format"] : undefined) ?? older;
  if (!isObject(format)) return null;
  if (format["type"] !== "json_schema" || !isObject(format["schema"]))
    throw untranslatable("output_config.format.type");
  return { type: "schema", name: null, schema: format["schema"], strict: null, description: null };
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
