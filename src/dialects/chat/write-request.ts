import { customNames } from "../conversation/custom-tools.ts";
import { tellHints } from "../conversation/hints.ts";
import { effortOf } from "../conversation/reasoning.ts";
import type { Conversation, LeaveOut, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTerms, VendorTraits } from "../dialect.ts";
import { writeMessages } from "./write-messages.ts";
import { isObject } from "../../lib/json.ts";

/**
 * Writes a request for a vendor of chat completions. Omits the fields that the vendor's traits refuse. Throws an
 * `UpstreamError` for content that the vendor does not accept. The error names the caller's field.
 */
export function writeConversation(
  requested: Conversation,
  terms: VendorTerms,
  leaveOut: LeaveOut = () => {},
): string {
  const { upstreamModel, traits } = terms;
  const reasoning = writeReasoning(requested, terms);
  const telling = { conversation: requested, terms, isReasoned: reasoning !== null, isShown: false };
  const conversation = tellHints(telling, "chat", leaveOut);
  const { isStream, temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = conversation;
  const { verbosity, user, logprobs } = conversation;
  const isRefused = (field: RefusableField) => traits.refuses?.includes(field) ?? false;
  return JSON.stringify({
    model: upstreamModel,
    messages: writeMessages(conversation, traits),
    ...(isStream && { stream: true, ...(!isRefused("stream_options") && { stream_options: USAGE_TOO }) }),
    ...writeMaxTokens(conversation, terms),
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
    ...(topK !== null && { top_k: topK }),
    ...writeStops(conversation),
    ...(seed !== null && { [traits.seedField ?? "seed"]: seed }),
    ...(verbosity !== null && { verbosity }),
    ...(presencePenalty !== null && { presence_penalty: presencePenalty }),
    ...(frequencyPenalty !== null && { frequency_penalty: frequencyPenalty }),
    ...writeTools(conversation, traits),
    ...writeFormat(conversation, traits),
    ...(traits.splitsReasoning && { reasoning_split: true }),
    ...reasoning,
    ...(logprobs !== null && { logprobs: true, ...(logprobs > 0 && { top_logprobs: logprobs }) }),
    ...(user !== null && { user }),
  });
}

type RefusableField = NonNullable<VendorTraits["refuses"]>[number];

const USAGE_TOO = { include_usage: true } as const;
/** Maximum number of stop sequences (OpenAI reference, `stop`). */
const MAX_STOPS = 4;

function writeMaxTokens(
  { maxTokens }: Conversation,
  { traits, coveredTokens, model }: VendorTerms,
): Readonly<Record<string, number>> {
  const wanted = maxTokens ?? coveredTokens;
  // The caller's maximum may be meant for a larger model, because clients of the messages protocol must always send a
  // maximum. Therefore it is limited to the maximum of this model.
  return wanted === null
    ? {}
    : { [traits.maxTokensField ?? "max_tokens"]: Math.min(wanted, model.maxOutputTokens) };
}

function writeStops({ stop, params }: Conversation): object {
  if (stop.length > MAX_STOPS) throw untranslatable(params.stop ?? "stop", `Name at most ${MAX_STOPS}.`);
  return stop.length > 0 ? { stop } : {};
}

/** Writes the fields about tools. OpenAI refuses these fields in a request without tools. */
function writeTools(conversation: Conversation, traits: VendorTraits): object {
  const { toolChoice, parallelCalls, params } = conversation;
  const allowsByList =
    toolChoice?.type === "allowed" && !(traits.refuses?.includes("allowed_tools") ?? false);
  const allowed = toolChoice?.type === "allowed" && !allowsByList ? new Set(toolChoice.names) : null;
  const tools = allowed ? conversation.tools.filter(({ name }) => allowed.has(name)) : conversation.tools;
  if (tools.length === 0) return {};
  if (traits.refuses?.includes("custom_tools") && tools.some(({ kind }) => kind === "custom"))
    throw untranslatable(params.tools ?? "tools");
  return {
    tools: tools.map(writeTool),
    ...(toolChoice && { tool_choice: writeChoice(toolChoice, tools, allowsByList) }),
    ...(parallelCalls !== null && { parallel_tool_calls: parallelCalls }),
  };
}

function writeTool({ kind, name, description, parameters, strict, format }: Tool): object {
  const definition = {
    name,
    ...(description !== null && { description }),
    ...(parameters && { parameters }),
    ...(strict !== null && { strict }),
    ...(format !== undefined && { format: writeGrammar(format) }),
  };
  return { type: kind, [kind]: definition };
}

/** Writes a grammar. Chat nests it one level deeper than the neutral form. */
function writeGrammar(format: unknown): unknown {
  if (!isObject(format)) return format;
  const { type, ...grammar } = format;
  return type === "grammar" ? { type, grammar } : format;
}

function writeChoice(choice: ToolChoice, tools: readonly Tool[], allowsByList: boolean): unknown {
  const custom = customNames(tools);
  const named = (name: string): object => {
    const kind = custom.has(name) ? "custom" : "function";
    return { type: kind, [kind]: { name } };
  };
  if (choice.type === "tool") return named(choice.name);
  if (choice.type !== "allowed") return choice.type;
  // If the vendor does not support lists of allowed tools, `writeTools` sends only the allowed tools.
  if (!allowsByList) return choice.mode;
  return {
    type: "allowed_tools",
    allowed_tools: { mode: choice.mode, tools: choice.names.map((name) => named(name)) },
  };
}

function writeFormat({ format, params }: Conversation, { refuses }: VendorTraits): object {
  if (!format) return {};
  if (format.type === "json") return { response_format: { type: "json_object" } };
  if (refuses?.includes("json_schema")) throw untranslatable(params.format ?? "response_format");
  return { response_format: { type: "json_schema", json_schema: writeSchema(format) } };
}

function writeSchema({
  name,
  schema,
  strict,
  description,
}: Extract<OutputFormat, { type: "schema" }>): object {
  return {
    // The protocol requires a name.
    name: name ?? "answer",
    schema,
    ...(strict !== null && { strict }),
    ...(description !== null && { description }),
  };
}

/** Writes the effort of reasoning for the vendor; null if none is requested or the target cannot control it. */
function writeReasoning({ reasoning }: Conversation, { traits, model }: VendorTerms): object | null {
  const effort = reasoning && effortOf(reasoning);
  if (!effort || !model.reasoning) return null;
  const isOn = effort !== "none";
  const byWord = { reasoning_effort: effort };
  switch (traits.reasoningSwitch) {
    case "thinking":
      return {
        thinking: { type: isOn ? "enabled" : "disabled" },
        ...(isOn && traits.takesEffort && byWord),
      };
    case "enable_thinking":
      return { enable_thinking: isOn };
    case undefined:
      return byWord;
  }
}
