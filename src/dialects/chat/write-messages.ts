import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  MediaSource,
  TextPart,
  ToolResult,
  Turn,
  UserPart,
} from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { VendorTraits } from "../dialect.ts";
import { type ReasoningDetail, writeDetails } from "./reasoning.ts";
import { writeCall } from "./content.ts";

type Message = Readonly<Record<string, unknown>>;

/**
 * Writes turns as messages. A message with only text and without a cache mark becomes a single string, because every
 * vendor accepts a string. Tool results come before the user's other parts, as vendors require.
 */
export function writeMessages({ system, turns, params }: Conversation, traits: VendorTraits): Message[] {
  for (const { role, parts } of turns) if (role === "user") checkDocuments(parts, params.turns ?? "messages");
  const messages = turns.flatMap((turn) => writeTurn(turn, traits));
  return system.length > 0
    ? [{ role: "system", content: writeContent(system, traits) }, ...messages]
    : messages;
}

function writeTurn(turn: Turn, traits: VendorTraits): Message[] {
  switch (turn.role) {
    case "system":
      return [{ role: "system", content: writeContent(turn.parts, traits) }];
    case "user":
      return writeUser(turn.parts, traits);
    case "assistant":
      return writeAssistant(turn.parts, traits);
  }
}

function joined(parts: readonly TextPart[]): string {
  return parts.map(({ text }) => text).join("\n\n");
}

type Content = Exclude<UserPart, ToolResult>;

function writeUser(parts: readonly UserPart[], traits: VendorTraits): Message[] {
  const results = parts.filter((part) => part.type === "tool_result");
  const messages = results.map(writeResult);
  // A tool message can contain only text. Other parts of a result are added to the user's message.
  const shown = results.flatMap((result) => result.parts.filter((part) => part.type !== "text"));
  const rest = parts.filter((part): part is Content => part.type !== "tool_result");
  const content = [...shown, ...rest];
  return content.length > 0
    ? [...messages, { role: "user", content: writeContent(content, traits) }]
    : messages;
}

function writeResult({ callId, parts, isError }: ToolResult): Message {
  const text = joined(parts.filter((part) => part.type === "text"));
  return { role: "tool", tool_call_id: callId, content: isError ? `Error: ${text}` : text };
}

function writeContent(parts: readonly Content[], { takesCacheControl }: VendorTraits): unknown {
  const isCached = takesCacheControl && parts.some((part) => "cacheControl" in part);
  if (!isCached && parts.every((part) => part.type === "text")) return joined(parts);
  return parts.map((part) => ({
    ...writePart(part),
    ...(takesCacheControl && "cacheControl" in part && { cache_control: part.cacheControl }),
  }));
}

function writePart(part: Content): object {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return writeImage(part);
    case "audio":
      return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
    case "file":
      return writeFile(part);
  }
}

function writeImage({ source, detail }: ImagePart): object {
  return { type: "image_url", image_url: { url: urlOf(source), ...(detail !== undefined && { detail }) } };
}

/** Writes a document: text as text. Vendors read only PDF files, and require a file name (OpenAI, "File inputs"). */
function writeFile({ source, name }: FilePart): object {
  if ("text" in source) return { type: "text", text: source.text };
  if ("data" in source && source.mediaType.startsWith("text/"))
    return { type: "text", text: Buffer.from(source.data, "base64").toString() };
  return { type: "file", file: { filename: name ?? "document.pdf", file_data: urlOf(source) } };
}

/** Throws an `UpstreamError` for a document that `writeFile` cannot write. `field` names the caller's field. */
function checkDocuments(parts: readonly UserPart[], field: string): void {
  for (const part of parts) {
    if (part.type === "tool_result") checkDocuments(part.parts, field);
    if (part.type !== "file" || "text" in part.source) continue;
    if ("url" in part.source) throw untranslatable(field, "Send documents as base64 in place of links.");
    if (!/^(?:application\/pdf$|text\/)/.test(part.source.mediaType))
      throw untranslatable(field, "Its documents are PDF or text.");
  }
}

function urlOf(source: MediaSource): string {
  return "url" in source ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/**
 * Writes a turn of the model. Returns no message for a turn without text and calls, because vendors refuse such a
 * message. Such a turn occurs when a model was cut during its reasoning.
 */
function writeAssistant(parts: readonly AssistantPart[], traits: VendorTraits): Message[] {
  const text = textOf(parts, "text");
  const refusal = textOf(parts, "refusal");
  const calls = parts.filter((part) => part.type === "tool_call");
  if (text === "" && refusal === "" && calls.length === 0) return [];
  const { takesRefusals = false } = traits;
  const message = {
    role: "assistant",
    // A vendor without support for `refusal` gets a refusal as ordinary text.
    content: (takesRefusals ? text : [text, refusal].filter(Boolean).join("\n\n")) || null,
    ...(refusal !== "" && takesRefusals && { refusal }),
    ...writeReasoning(parts, traits),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(ownSignature(call))) }),
  };
  return [message];
}

function textOf(parts: readonly AssistantPart[], type: "text" | "refusal" | "reasoning"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

/** Removes a signature of another protocol, which a `chat` vendor cannot read. */
function ownSignature<Part extends Extract<AssistantPart, { signature?: unknown }>>(part: Part): Part {
  if (!part.signature || part.signature.dialect === "chat") return part;
  return { ...part, signature: undefined };
}

function writeReasoning(parts: readonly AssistantPart[], { reasoningField }: VendorTraits): object {
  if (reasoningField === undefined) return {};
  const pieces = parts.filter((part) => part.type === "reasoning");
  if (reasoningField === "reasoning_details") {
    const own = pieces.filter(({ signature }) => !signature || signature.dialect === "chat");
    const details = own.flatMap((piece, index): ReasoningDetail[] => writeDetails(piece, index));
    return details.length > 0 ? { reasoning_details: details } : {};
  }
  const text = textOf(pieces, "reasoning");
  // A turn with a tool call needs this field, even if it is empty (DeepSeek API, "Thinking mode", tool calls).
  const isDemanded = parts.some(({ type }) => type === "tool_call");
  return text !== "" || isDemanded ? { [reasoningField]: text } : {};
}
