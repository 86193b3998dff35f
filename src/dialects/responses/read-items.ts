import { isObject } from "../../lib/json.ts";
import { readMediaUrl } from "../conversation/media-source.ts";
import { OpenTurns } from "../conversation/open-turns.ts";
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  ReasoningPart,
  TextPart,
  ToolCall,
  ToolResult,
} from "../conversation/request.ts";
import { openSignature, type Signature } from "../conversation/signature.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { TEXT_TYPES } from "./request.ts";
import { flatName } from "./tools.ts";

type Item = Readonly<Record<string, unknown>>;

/**
 * Reads items into turns. Returns the instructions at the start separately. Joins successive items of the same side.
 * Tool results come first in the user's turn after the model's last turn.
 */
export function readItems(input: unknown): Pick<Conversation, "system" | "turns"> {
  const reader = new ItemReader();
  if (typeof input === "string") reader.addUser(readContent(input, "input"));
  else if (Array.isArray(input))
    input.forEach((item: unknown, index) => {
      if (isObject(item)) reader.read(item, `input[${index}]`);
    });
  return { system: reader.system, turns: reader.turns.close() };
}

class ItemReader {
  readonly system: TextPart[] = [];
  readonly turns = new OpenTurns();
  /** Signature of the next tool call. It arrives before the call, in a separate item. */
  #callSignature: Signature | null = null;

  read(item: Item, path: string): void {
    switch (item["type"] ?? "message") {
      case "message":
        return this.#readMessage(item, path);
      case "reasoning":
        return this.#readReasoning(item);
      case "function_call":
      case "custom_tool_call":
        return this.#readCall(item);
      case "function_call_output":
      case "custom_tool_call_output":
        return this.turns.addResult(readResult(item, path));
      case "additional_tools":
        // `readTools` reads the tools of this item.
        return;
      default:
        throw untranslatable(`${path}.type`);
    }
  }

  addUser(parts: readonly (TextPart | ImagePart | FilePart)[]): void {
    this.turns.add({ role: "user", parts });
  }

  #readMessage({ role, content }: Item, path: string): void {
    const contentPath = `${path}.content`;
    switch (role) {
      case "user":
        return this.addUser(readContent(content, contentPath));
      case "assistant":
        return this.#addAssistant(...readAnswer(content, contentPath));
      case "system":
      case "developer": {
        const parts = readTexts(content, contentPath);
        if (this.turns.isEmpty) for (const part of parts) this.system.push(part);
        else this.turns.add({ role: "system", parts });
        return;
      }
      default:
        throw untranslatable(`${path}.role`);
    }
  }

  #readReasoning({ summary, content, encrypted_content: encrypted }: Item): void {
    const shown = textsOf(summary) ?? textsOf(content);
    const signature = typeof encrypted === "string" && encrypted !== "" ? readSignature(encrypted) : null;
    if (signature?.isOfCall) {
      this.#callSignature = signature.signature;
      return;
    }
    const text = shown?.join("\n\n") ?? "";
    if (text === "" && !signature) return;
    const part: ReasoningPart = { type: "reasoning", text, signature: signature?.signature ?? null };
    // Reasoning without summary and content is only a signature. A summary may also have an empty text.
    this.#addAssistant(shown ? part : { ...part, isRedacted: true });
  }

  #readCall({ type, call_id: id, name, namespace, arguments: args, input }: Item): void {
    const signature = this.#callSignature;
    this.#callSignature = null;
    const call: ToolCall = {
      type: "tool_call",
      id: String(id),
      name: flatName({ namespace: typeof namespace === "string" ? namespace : null, name: String(name) }),
      kind: type === "custom_tool_call" ? "custom" : "function",
      arguments: String(type === "custom_tool_call" ? input : args),
      ...(signature && { signature }),
    };
    this.#addAssistant(call);
  }

  #addAssistant(...parts: AssistantPart[]): void {
    this.turns.add({ role: "assistant", parts });
  }
}

/** Prefix of a signature of a tool call. Such a signature is in a reasoning item. */
const CALL_MARK = "call:";

/** Returns the signature for a reasoning item before a signed tool call. The call has no field for a signature. */
export function signatureOfCall({ dialect, value }: Signature): Signature {
  return { dialect, value: `${CALL_MARK}${value}` };
}

function readSignature(text: string): { signature: Signature; isOfCall: boolean } {
  const signature = openSignature(text, "responses");
  const { dialect, value } = signature;
  if (dialect === "responses" || !value.startsWith(CALL_MARK)) return { signature, isOfCall: false };
  return { signature: { dialect, value: value.slice(CALL_MARK.length) }, isOfCall: true };
}

/** Returns the texts of a list of parts; null when the value is not a list or the list is empty. */
function textsOf(parts: unknown): string[] | null {
  if (!Array.isArray(parts) || parts.length === 0) return null;
  return parts.flatMap((part: unknown) => {
    const text: unknown = isObject(part) ? part["text"] : undefined;
    return typeof text === "string" ? [text] : [];
  });
}

function readResult({ call_id: id, output }: Item, path: string): ToolResult {
  const parts = readContent(output, `${path}.output`);
  return { type: "tool_result", callId: String(id), parts, isError: false };
}

type Part = Readonly<Record<string, unknown>>;
type ContentPart = TextPart | ImagePart | FilePart;

/** Reads the content of a user, an instruction or a tool result: texts, pictures and documents. Skips empty texts. */
function readContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === "string") return nonEmpty(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part, index) => (isObject(part) ? readPart(part, `${path}[${index}]`) : []));
}

function readTexts(content: unknown, path: string): TextPart[] {
  return readContent(content, path).map((part) => {
    if (part.type !== "text") throw untranslatable(path);
    return part;
  });
}

/** Reads the content of an earlier message of the model, which consists of texts and refusals. */
function readAnswer(content: unknown, path: string): AssistantPart[] {
  if (typeof content === "string") return nonEmpty(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part, index): AssistantPart[] => {
    const { type, text, refusal } = isObject(part) ? part : {};
    if (typeof text === "string" && TEXT_TYPES.has(type)) return nonEmpty(text);
    if (type === "refusal" && typeof refusal === "string") return [{ type, text: refusal }];
    throw untranslatable(`${path}[${index}].type`);
  });
}

function nonEmpty(text: string): TextPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function readPart(part: Part, path: string): ContentPart[] {
  const { type } = part;
  if (TEXT_TYPES.has(type)) return nonEmpty(String(part["text"]));
  if (type === "input_image") {
    const { image_url: url, detail } = part;
    const source = readMediaUrl(url);
    if (!source) throw untranslatable(`${path}.image_url`, BASE64_ADVICE);
    return [{ type: "image", source, ...(typeof detail === "string" && { detail }) }];
  }
  if (type === "input_file") {
    const { file_data: data, file_url: url, filename } = part;
    const source = readMediaUrl(data ?? url);
    if (!source)
      throw untranslatable(`${path}.${url === undefined ? "file_data" : "file_url"}`, BASE64_ADVICE);
    return [{ type: "file", source, ...(typeof filename === "string" && { name: filename }) }];
  }
  throw untranslatable(`${path}.type`);
}

const BASE64_ADVICE = "Send base64: `data:image/png;base64,…`.";
