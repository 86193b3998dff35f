import { isObject } from "../lib/json.ts";
import type { CountableText } from "../domain/usage.ts";
import type { TextRequest } from "./dialect.ts";
import { tokenEighths, wholeTokens } from "./input-size.ts";

/**
 * Collects for a tokenizer the text that a model reads from a request: the conversation and the tools. Omits the names
 * of the protocol's fields. Omits media, because their sizes are known.
 */
export function promptText({
  body,
  estimatedInput,
  mediaTokens,
}: Pick<TextRequest, "body" | "estimatedInput" | "mediaTokens">): CountableText {
  const reader = new PromptReader(MAX_PROMPT_UNITS);
  let messages = 0;
  for (const name of PROMPT_FIELDS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    reader.read(value, name);
    if (CONVERSATIONS.has(name) && Array.isArray(value)) messages += value.length;
    else if (!TOOLS.has(name)) messages += 1;
  }
  const text = reader.pieces.join("\n");
  const kept = wholeTokens(tokenEighths(text));
  const all = Math.max(estimatedInput - mediaTokens, kept);
  const form = messages * TOKENS_PER_MESSAGE + TOKENS_PER_REPLY;
  return { text, share: reader.isCut ? kept / all : 1, otherTokens: form + mediaTokens };
}

/** Maximum number of UTF-16 code units of a prompt for the tokenizer. The rest of the prompt is estimated. */
export const MAX_PROMPT_UNITS = 256 * 1024;

/** The fields of all protocols that contain text for the model. */
const PROMPT_FIELDS = [
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "messages",
  "input",
  "contents",
  "tools",
  "functions",
] as const;
const CONVERSATIONS: ReadonlySet<string> = new Set(["messages", "input", "contents"]);
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);

/** Additional tokens of a message; `TOKENS_PER_REPLY` of a reply's beginning (OpenAI cookbook, how to count tokens). */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_REPLY = 3;

/** Names of fields that the prompt contains as JSON: schemas, arguments of tool calls, and tool results. */
const JSON_MEMBERS: ReadonlySet<string> = new Set([
  "parameters",
  "parametersJsonSchema",
  "input_schema",
  "args",
  "arguments",
  "response",
]);

/** Names of fields without text for the model: types, ids, media, and data that only a vendor can read. */
const NO_TEXT: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "call_id",
  "tool_call_id",
  "tool_use_id",
  "status",
  "detail",
  "cache_control",
  "source",
  "image_url",
  "input_audio",
  "file",
  "file_data",
  "file_url",
  "inlineData",
  "inline_data",
  "fileData",
  "data",
  "signature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
]);

/** Collects texts until the maximum of UTF-16 code units is reached. */
class PromptReader {
  readonly pieces: string[] = [];
  #space: number;
  isCut = false;

  constructor(maxUnits: number) {
    this.#space = maxUnits;
  }

  read(value: unknown, name: string): void {
    if (this.isCut) return;
    if (typeof value === "string") this.#add(value);
    else if (Array.isArray(value)) for (const each of value) this.read(each, name);
    else if (!isObject(value)) return;
    else if (JSON_MEMBERS.has(name) || (name === "input" && !("type" in value) && !("role" in value)))
      this.#add(JSON.stringify(value));
    else for (const member in value) if (!NO_TEXT.has(member)) this.read(value[member], member);
  }

  #add(text: string): void {
    // The line break between two pieces is one unit.
    const piece = text.length < this.#space ? text : text.slice(0, Math.max(0, this.#space - 1));
    this.isCut = piece.length < text.length;
    this.#space -= piece.length + 1;
    this.pieces.push(piece);
  }
}
