import { customNames } from "../conversation/custom-tools.ts";
import { effortOf } from "../conversation/reasoning.ts";
import type { Conversation, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTerms, VendorTraits } from "../dialect.ts";
import { writeMessages } from "./write-messages.ts";

/**
 * Writes a request for a vendor of chat completions, without anything that it refuses by its traits. Throws an
 * `UpstreamError` that names the caller's field where the vendor has no equivalent.
 */
export function writeConversation(conversation: Conversation, terms: VendorTerms): string {
  const { upstreamModel, traits } = terms;
  const { isStream, temperature, topP, presencePenalty, frequencyPenalty, user } = conversation;
  const isRefused = (field: RefusableField) => traits.refuses?.includes(field) ?? false;
  return JSON.stringify({
    model: upstreamModel,
    messages: writeMessages(conversation, traits),
    ...(isStream && { stream: true, ...(!isRefused("stream_options") && { stream_options: USAGE_TOO }) }),
    ...writeMaxTokens(conversation, terms),
    ...(temperature !== null && { temperature: Math.min(temperature, traits.maxTemperature ?? temperature) }),
    ...(topP !== null && { top_p: topP }),
    ...writeSampling(conversation, traits),
    ...(presencePenalty !== null && { presence_penalty: presencePenalty }),
    ...(frequencyPenalty !== null && { frequency_penalty: frequencyPenalty }),
    ...writeTools(conversation, traits),
    ...writeFormat(conversation, traits),
    ...writeReasoning(conversation, terms),
    ...(user !== null && user.length <= MAX_USER && !isRefused("user") && { user }),
  });
}

type RefusableField = NonNullable<VendorTraits["refuses"]>[number];

const USAGE_TOO = { include_usage: true } as const;
/** Longer ids of end users are refused (OpenAI reference, `safety_identifier`); they change no content. */
const MAX_USER = 64;
/** OpenAI reference, `stop`. */
const MAX_STOPS = 4;

function writeMaxTokens(
  { maxTokens }: Conversation,
  { traits, coveredTokens, model }: VendorTerms,
): Readonly<Record<string, number>> {
  const wanted = maxTokens ?? coveredTokens;
  // Clients of other protocols must send a maximum, and send one for the largest model they know.
  return wanted === null
    ? {}
    : { [traits.maxTokensField ?? "max_tokens"]: Math.min(wanted, model.maxOutputTokens) };
}

/** Fields that some vendors lack or name otherwise. */
function writeSampling(conversation: Conversation, traits: VendorTraits): object {
  const { topK, stop, seed, verbosity, params } = conversation;
  if (topK !== null && !traits.takesTopK) throw untranslatable(params.topK ?? "top_k");
  if (stop.length > MAX_STOPS) throw untranslatable(params.stop ?? "stop", `Name at most ${MAX_STOPS}.`);
  if (seed !== null && traits.refuses?.includes("seed")) throw untranslatable(params.seed ?? "seed");
  // `medium` is what models do by themselves.
  const isVerbosityWritten = verbosity !== null && !traits.refuses?.includes("verbosity");
  if (verbosity !== null && !isVerbosityWritten && verbosity !== "medium")
    throw untranslatable(params.verbosity ?? "verbosity");
  return {
    ...(topK !== null && { top_k: topK }),
    ...(stop.length > 0 && { stop }),
    ...(seed !== null && { [traits.seedField ?? "seed"]: seed }),
    ...(isVerbosityWritten && { verbosity }),
  };
}

/** Fields about tools are refused where there are none (OpenAI). */
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
    ...(parallelCalls !== null &&
      !traits.refuses?.includes("parallel_tool_calls") && { parallel_tool_calls: parallelCalls }),
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

/** Chat has a grammar one level below its type. */
function writeGrammar(format: unknown): unknown {
  const { type, ...grammar } = (format ?? {}) as Record<string, unknown>;
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
  // For a vendor without such lists, the other tools have been left out.
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
    // It must have one.
    name: name ?? "answer",
    schema,
    ...(strict !== null && { strict }),
    ...(description !== null && { description }),
  };
}

/**
 * Writes the effort of reasoning in the vendor's own way. It is left out for a model without this control, since
 * clients send an effort to any model.
 */
function writeReasoning({ reasoning }: Conversation, { traits, model }: VendorTerms): object {
  const split = traits.splitsReasoning ? { reasoning_split: true } : {};
  const effort = reasoning && effortOf(reasoning);
  if (!effort || !model.reasoning) return split;
  const isOn = effort !== "none";
  const byWord = { reasoning_effort: effort };
  switch (traits.reasoningSwitch) {
    case "thinking":
      return {
        ...split,
        thinking: { type: isOn ? "enabled" : "disabled" },
        ...(isOn && traits.takesEffort && byWord),
      };
    case "enable_thinking":
      return { ...split, enable_thinking: isOn };
    case undefined:
      return { ...split, ...byWord };
  }
}
