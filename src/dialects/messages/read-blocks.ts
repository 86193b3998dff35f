import { isObject, scanArray, scanObject } from "../../lib/json.ts";
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  MediaSource,
  TextPart,
  ToolCall,
  ToolResult,
  UserPart,
} from "../conversation/request.ts";
import { openSignature, type Signature } from "../conversation/signature.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { cacheOf } from "./content.ts";
import { openCallSignature, openThinking } from "./thinking.ts";
import { readCallId } from "./tools.ts";

type Block = Record<string, unknown>;

/** Yields the blocks of a message's content (a string or a list), each with the path of its field. */
function* blocksOf(content: unknown, path: string): Generator<[block: Block, path: string]> {
  if (typeof content === "string") yield [{ type: "text", text: content }, path];
  if (!Array.isArray(content)) return;
  for (const [index, block] of content.entries()) if (isObject(block)) yield [block, `${path}[${index}]`];
}

/** Reads content that must consist of texts, for example instructions. */
export function readTexts(content: unknown, path: string): TextPart[] {
  return [...blocksOf(content, path)].map(([block, at]) => {
    if (block["type"] !== "text") throw untranslatable(`${at}.type`);
    return readText(block, at);
  });
}

export function readUserParts(content: unknown, path: string): UserPart[] {
  return [...blocksOf(content, path)].map(([block, at]) =>
    block["type"] === "tool_result" ? readResult(block, at) : readShown(block, at),
  );
}

/** Reads a turn of the assistant. `inputOf` returns the input of a tool call as the caller wrote it. */
export function readAssistantParts(
  content: unknown,
  path: string,
  inputOf: (block: Block) => string,
): AssistantPart[] {
  const parts: AssistantPart[] = [];
  let signature: Signature | null = null;
  for (const [block, at] of blocksOf(content, path)) {
    const { type, data } = block;
    if (type === "redacted_thinking" && typeof data === "string" && openCallSignature(data)) {
      signature = openCallSignature(data);
      continue;
    }
    if (type === "tool_use") {
      parts.push(readCall(block, inputOf(block), signature));
      signature = null;
    } else parts.push(readSaid(block, at));
  }
  return parts;
}

function readSaid(block: Block, path: string): AssistantPart {
  const { type, thinking, signature, data } = block;
  switch (type) {
    case "text":
      return readText(block, path);
    case "thinking":
      return {
        type: "reasoning",
        text: typeof thinking === "string" ? thinking : "",
        signature: openThinking(signature),
      };
    case "redacted_thinking": {
      const sealed = openSignature(typeof data === "string" ? data : "", "messages");
      return { type: "reasoning", text: "", signature: sealed, isRedacted: true };
    }
    default:
      throw untranslatable(`${path}.type`);
  }
}

function readCall(block: Block, input: string, signature: Signature | null): ToolCall {
  return {
    type: "tool_call",
    id: readCallId(String(block["id"])),
    name: String(block["name"]),
    kind: "function",
    arguments: input,
    ...(signature && { signature }),
    ...cacheOf(block),
  };
}

function readText(block: Block, path: string): TextPart {
  return { type: "text", text: textOf(block, "text", path), ...cacheOf(block) };
}

/** Returns a text of the object at `path`. The check of a request does not look into blocks inside of blocks. */
function textOf(object: Block, name: string, path: string): string {
  const value = object[name];
  if (typeof value !== "string") throw untranslatable(`${path}.${name}`, "It must be a string.");
  return value;
}

function readResult(block: Block, path: string): ToolResult {
  const parts = [...blocksOf(block["content"], `${path}.content`)].map(([part, at]) => readShown(part, at));
  return {
    type: "tool_result",
    callId: readCallId(String(block["tool_use_id"])),
    parts,
    isError: block["is_error"] === true,
    ...cacheOf(block),
  };
}

function readShown(block: Block, path: string): TextPart | ImagePart | FilePart {
  const { type, title, source } = block;
  switch (type) {
    case "text":
      return readText(block, path);
    case "image":
      return { type, source: mediaSource(source, path), ...cacheOf(block) };
    case "document":
      return readDocument(block, path);
    case "search_result": {
      const texts = readTexts(block["content"], `${path}.content`).map(({ text }) => text);
      const head = [title, source].filter((part) => typeof part === "string");
      return { type: "text", text: [...head, ...texts].join("\n"), ...cacheOf(block) };
    }
    // The name of a tool that a tool search found. The request also defines this tool.
    case "tool_reference":
      return { type: "text", text: `Tool: ${textOf(block, "tool_name", path)}`, ...cacheOf(block) };
    default:
      throw untranslatable(`${path}.type`);
  }
}

/**
 * Reads a document. The title and context of a text document become part of its text, because other protocols have no
 * fields for them. The title of another document becomes its name. Throws for the context of another document, and if
 * citations are enabled.
 */
function readDocument(block: Block, path: string): FilePart {
  const { title, context, citations } = block;
  if (isObject(citations) && citations["enabled"] === true) throw untranslatable(`${path}.citations`);
  const source = documentSource(block["source"], path);
  const head = [title, context].filter((part) => typeof part === "string");
  if ("text" in source)
    return { type: "file", source: { text: [...head, source.text].join("\n") }, ...cacheOf(block) };
  if (typeof context === "string") throw untranslatable(`${path}.context`);
  return { type: "file", source, ...(typeof title === "string" && { name: title }), ...cacheOf(block) };
}

function mediaSource(source: unknown, path: string): MediaSource {
  const { type, url, data } = isObject(source) ? source : {};
  if (type === "url" && typeof url === "string") return { url };
  if (isObject(source) && type === "base64" && typeof data === "string")
    return { mediaType: textOf(source, "media_type", `${path}.source`), data };
  throw untranslatable(`${path}.source.type`);
}

function documentSource(source: unknown, path: string): FilePart["source"] {
  const { type, data, content } = isObject(source) ? source : {};
  if (type === "text" && typeof data === "string") return { text: data };
  if (type !== "content") return mediaSource(source, path);
  const texts = readTexts(content, `${path}.source.content`).map(({ text }) => text);
  return { text: texts.join("\n") };
}

/**
 * Returns the unchanged text of `input` for the block of each tool call. `content` is the parsed content of `message`.
 */
export function rawInputs(message: string, content: unknown): ReadonlyMap<unknown, string> {
  const inputs = new Map<unknown, string>();
  if (!Array.isArray(content) || !content.some(isCall)) return inputs;
  const items = memberText(message, "content") ?? "[]";
  for (const [index, { start, end }] of scanArray(items).entries()) {
    const block: unknown = content[index];
    if (!isCall(block)) continue;
    inputs.set(block, memberText(items.slice(start, end), "input") ?? "{}");
  }
  return inputs;
}

/** Returns the JSON text of one field. `text` is the JSON text of the object. */
export function memberText(text: string, name: string): string | undefined {
  const [span] = scanObject(text, [name]).spans;
  return span && text.slice(span.start, span.end);
}

function isCall(block: unknown): boolean {
  return isObject(block) && block["type"] === "tool_use";
}
