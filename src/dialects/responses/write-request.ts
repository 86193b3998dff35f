import { customNames } from "../conversation/custom-tools.ts";
import { writeMediaUrl } from "../conversation/media-source.ts";
import { tellHints } from "../conversation/hints.ts";
import { type Effort, effortOf } from "../conversation/reasoning.ts";
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  LeaveOut,
  OutputFormat,
  ReasoningPart,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
  Turn,
  UserPart,
} from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTerms } from "../dialect.ts";
import { LOGPROBS } from "./read-request.ts";

/** The lowest maximum of output tokens that vendors accept (OpenAI responses reference). */
const MIN_OUTPUT_TOKENS = 16;

/**
 * Writes a request for a vendor of the responses protocol. The vendor must store nothing, and must return reasoning, if
 * any, in encrypted form for the next request. Throws an `UpstreamError` that names the caller's field for content that
 * the protocol cannot express.
 */
export function writeConversation(
  requested: Conversation,
  terms: VendorTerms,
  leaveOut: LeaveOut = () => {},
): string {
  const { stop, params } = requested;
  if (stop.length > 0) throw untranslatable(params.stop ?? "stop");
  const reasoning = writeReasoning(requested, terms);
  const telling = {
    conversation: requested,
    terms,
    isReasoned: reasoning !== null,
    // The protocol shows reasoning only when a summary is requested.
    isShown: reasoning?.summary !== undefined || requested.reasoning?.isVisible === false,
  };
  const conversation = tellHints(telling, "responses", leaveOut);
  const { isStream, system, temperature, topP, tools, toolChoice, parallelCalls, user, cacheKey, logprobs } =
    conversation;
  const [instructions, ...more] = system;
  const turns = more.length === 0 ? conversation.turns : [systemTurn(more), ...conversation.turns];
  const hasTools = tools.length > 0;
  // The caller can send encrypted reasoning back in its next request.
  const includesReasoning = terms.model.reasoning && reasoning?.effort !== "none";
  const include = [
    ...(includesReasoning ? ["reasoning.encrypted_content"] : []),
    ...(logprobs === null ? [] : [LOGPROBS]),
  ];
  return JSON.stringify({
    model: terms.upstreamModel,
    ...(instructions && { instructions: instructions.text }),
    input: writeItems(turns),
    ...(isStream && { stream: true }),
    store: false,
    ...writeMaxTokens(conversation, terms),
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
    ...(hasTools && { tools: tools.map(writeTool) }),
    ...(hasTools && toolChoice && { tool_choice: writeChoice(toolChoice, tools) }),
    ...(hasTools && parallelCalls !== null && { parallel_tool_calls: parallelCalls }),
    ...writeText(conversation),
    ...(reasoning && { reasoning }),
    ...(include.length > 0 && { include }),
    ...((logprobs ?? 0) > 0 && { top_logprobs: logprobs }),
    ...(user !== null && { safety_identifier: user }),
    ...(cacheKey !== null && { prompt_cache_key: cacheKey }),
  });
}

function systemTurn(parts: Conversation["system"]): Conversation["turns"][number] {
  return { role: "system", parts };
}

function writeMaxTokens(
  { maxTokens }: Conversation,
  { coveredTokens, model }: VendorTerms,
): { max_output_tokens?: number } {
  const wanted = maxTokens ?? coveredTokens;
  if (wanted === null) return {};
  // The caller's maximum may be meant for a larger model, because clients of the messages protocol must always send a
  // maximum. Therefore it is limited to the maximum of this model.
  return { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, Math.min(wanted, model.maxOutputTokens)) };
}

function writeTool({ kind, name, description, parameters, strict, format }: Tool): object {
  const named = { type: kind, name, ...(description !== null && { description }) };
  if (kind === "custom") return { ...named, ...(format !== undefined && { format }) };
  // Without `strict`, the protocol treats a schema as strict and refuses most schemas of other protocols.
  return { ...named, parameters: parameters ?? NO_PARAMETERS, strict: strict ?? false };
}

const NO_PARAMETERS = { type: "object", properties: {} } as const;

function writeChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const custom = customNames(tools);
  const named = (name: string): object => ({ type: custom.has(name) ? "custom" : "function", name });
  if (choice.type === "tool") return named(choice.name);
  if (choice.type !== "allowed") return choice.type;
  return { type: "allowed_tools", mode: choice.mode, tools: choice.names.map((name) => named(name)) };
}

function writeText({ format, verbosity }: Conversation): object {
  if (!format && verbosity === null) return {};
  return {
    text: { ...(format && { format: writeFormat(format) }), ...(verbosity !== null && { verbosity }) },
  };
}

function writeFormat(format: OutputFormat): object {
  if (format.type === "json") return { type: "json_object" };
  const { name, schema, strict, description } = format;
  return {
    type: "json_schema",
    // The protocol requires a name.
    name: name ?? "answer",
    schema,
    ...(strict !== null && { strict }),
    ...(description !== null && { description }),
  };
}

/** Writes the requested reasoning for the vendor; null if none is requested or the target cannot control it. */
function writeReasoning(
  { reasoning }: Conversation,
  { model }: VendorTerms,
): { effort?: Effort; summary?: "auto" } | null {
  const effort = reasoning && effortOf(reasoning);
  const isShown = reasoning?.isVisible === true && effort !== "none";
  if (!model.reasoning || (!effort && !isShown)) return null;
  return { ...(effort && { effort }), ...(isShown && { summary: "auto" as const }) };
}

type ContentPart = TextPart | ImagePart | FilePart;

/** Writes turns as the items of a request, in the same order. */
function writeItems(turns: readonly Turn[]): object[] {
  const customCalls = new Set<string>();
  return turns.flatMap((turn) => {
    switch (turn.role) {
      case "system":
        return [{ type: "message", role: "developer", content: turn.parts.map(writePart) }];
      case "user":
        return writeUser(turn.parts, customCalls);
      case "assistant":
        return writeAssistant(turn.parts, customCalls);
    }
  });
}

function writeUser(parts: readonly UserPart[], customCalls: ReadonlySet<string>): object[] {
  const items: object[] = [];
  let content: object[] = [];
  for (const part of parts) {
    if (part.type !== "tool_result") content.push(writeUserPart(part));
    else {
      flush();
      items.push(writeResult(part, customCalls.has(part.callId)));
    }
  }
  flush();
  return items;

  function flush(): void {
    if (content.length > 0) items.push({ type: "message", role: "user", content });
    content = [];
  }
}

function writeUserPart(part: Exclude<UserPart, ToolResult>): object {
  if (part.type === "audio") throw untranslatable("input_audio", "Send text instead of audio.");
  return writePart(part);
}

function writePart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image": {
      const { source, detail } = part;
      const url = writeMediaUrl(source);
      return { type: "input_image", image_url: url, ...(detail !== undefined && { detail }) };
    }
    case "file":
      return writeFile(part);
  }
}

function writeFile({ source, name }: FilePart): object {
  if ("text" in source) return { type: "input_text", text: source.text };
  if ("url" in source)
    return { type: "input_file", file_url: source.url, ...(name !== undefined && { filename: name }) };
  // A file in base64 must have a name (OpenAI file inputs guide).
  return { type: "input_file", filename: name ?? "document.pdf", file_data: writeMediaUrl(source) };
}

function writeResult({ callId, parts, isError }: ToolResult, isCustom: boolean): object {
  const marked = isError ? [{ type: "text" as const, text: "Error:" }, ...parts] : parts;
  const [only, ...others] = marked;
  const text = only === undefined ? "" : only.type === "text" && others.length === 0 ? only.text : null;
  return {
    type: isCustom ? "custom_tool_call_output" : "function_call_output",
    call_id: callId,
    output: text ?? marked.map(writePart),
  };
}

/**
 * Writes a turn of the model. Successive texts and refusals become one message; a tool call becomes an item, and so
 * does reasoning with a signature of this protocol.
 */
function writeAssistant(parts: readonly AssistantPart[], customCalls: Set<string>): object[] {
  const items: object[] = [];
  let content: object[] = [];
  for (const part of parts) {
    if (part.type === "text") content.push({ type: "output_text", text: part.text, annotations: [] });
    else if (part.type === "refusal") content.push({ type: "refusal", refusal: part.text });
    else {
      flush();
      if (part.type === "tool_call") items.push(writeCall(part, customCalls));
      else items.push(...writeReasoningItem(part));
    }
  }
  flush();
  return items;

  function flush(): void {
    if (content.length > 0) items.push({ type: "message", role: "assistant", status: "completed", content });
    content = [];
  }
}

function writeCall({ id, name, kind, arguments: text }: ToolCall, customCalls: Set<string>): object {
  if (kind === "custom") {
    customCalls.add(id);
    return { type: "custom_tool_call", call_id: id, name, input: text };
  }
  return { type: "function_call", call_id: id, name, arguments: text === "" ? "{}" : text };
}

/** Writes reasoning. Omits reasoning that has no signature of this protocol, because vendors would refuse it. */
function writeReasoningItem({ text, signature }: ReasoningPart): object[] {
  if (signature?.dialect !== "responses") return [];
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return [{ type: "reasoning", summary, encrypted_content: signature.value }];
}
