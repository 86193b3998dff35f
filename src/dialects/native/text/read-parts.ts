import type { StreamedObject } from "../../../lib/json-spool.ts";
import { ownValue } from "../../../lib/json.ts";
import type {
  AssistantPart,
  MediaSource,
  TextPart,
  ToolCall,
  ToolResult,
  UserPart,
} from "../../conversation/request.ts";
import { openSignature, sealSignature, type Signature } from "../../conversation/signature.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import { findField, findObject, findObjects, findText } from "../fields.ts";
import { isThought } from "../parts.ts";

/**
 * Reads the parts of a conversation in order. Tool calls without an id get `call_0`, `call_1` and so on. A result
 * without an id belongs to the first call with its name that has no result yet (Gemini API reference, `FunctionCall`,
 * `FunctionResponse`). Arguments and results must have the form `{ text }` (see `exactCalls`).
 */
export class PartReader {
  #calls = 0;
  readonly #open = new OpenCalls();

  readTexts(content: StreamedObject, path: string): TextPart[] {
    return itemsIn(content).flatMap((part, index) => {
      const text = findText(part, "text");
      if (text === undefined) throw untranslatable(`${path}.parts[${index}]`);
      return text === "" ? [] : [{ type: "text" as const, text }];
    });
  }

  readUser(content: StreamedObject, path: string): UserPart[] {
    return itemsIn(content).flatMap((part, index): UserPart[] => {
      const result = findObject(part, "functionResponse");
      if (result) return [this.#readResult(result.value, `${path}.parts[${index}].${result.key}`)];
      const text = findText(part, "text");
      if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
      return [readMedia(part, `${path}.parts[${index}]`)];
    });
  }

  readAssistant(content: StreamedObject, path: string): AssistantPart[] {
    return itemsIn(content).flatMap((part, index): AssistantPart[] => {
      const call = findObject(part, "functionCall");
      const signed = readSignature(findField(part, "thoughtSignature")?.value);
      if (call) return [{ ...this.#readCall(call.value), ...(signed && { signature: signed.signature }) }];
      const text = findText(part, "text");
      if (text === undefined) throw untranslatable(`${path}.parts[${index}]`);
      if (isThought(part)) return [{ type: "reasoning", text, ...(signed ?? { signature: null }) }];
      // The signature of plain text is dropped: other protocols have no field for it, and vendors do not need it.
      return text === "" ? [] : [{ type: "text", text }];
    });
  }

  #readCall(call: StreamedObject): ToolCall {
    const name = findText(call, "name") ?? "";
    const id = findText(call, "id") ?? `call_${this.#calls}`;
    this.#calls += 1;
    this.#open.add(id, name);
    return { type: "tool_call", id, name, kind: "function", arguments: readObjectText(call, "args") };
  }

  #readResult(result: StreamedObject, path: string): ToolResult {
    const name = findText(result, "name") ?? "";
    const ownId = findText(result, "id");
    const callId = ownId ?? this.#open.first(name);
    if (callId !== undefined) this.#open.close(callId);
    if (callId === undefined)
      throw untranslatable(`${path}.name`, "No call of this name is without a result.");
    const media = (findObjects(result, "parts")?.value ?? []).map((part, index) => {
      const read = readMedia(part, `${path}.parts[${index}]`);
      if (read.type !== "image" && read.type !== "file") throw untranslatable(`${path}.parts[${index}]`);
      return read;
    });
    const { text, isError } = readOutput(readObjectText(result, "response"));
    return { type: "tool_result", callId, parts: [{ type: "text", text }, ...media], isError };
  }
}

/** Tool calls without a result. Finding one takes constant time, even among thousands of calls. */
class OpenCalls {
  /** Ids of the calls by name, in order. The first `closed` ids have a result. */
  readonly #byName = new Map<string, { ids: string[]; closed: number }>();
  readonly #closed = new Set<string>();

  add(id: string, name: string): void {
    const calls = this.#byName.get(name) ?? { ids: [], closed: 0 };
    calls.ids.push(id);
    this.#byName.set(name, calls);
  }

  first(name: string): string | undefined {
    const calls = this.#byName.get(name);
    if (!calls) return undefined;
    while (this.#closed.has(calls.ids[calls.closed] ?? "")) calls.closed += 1;
    return calls.ids[calls.closed];
  }

  close(id: string): void {
    this.#closed.add(id);
  }
}

/**
 * Reads the output of a function. If the object has only the field `output` or `error`, the output is the text of this
 * field. Otherwise the output is the whole object.
 */
function readOutput(response: string): { text: string; isError: boolean } {
  const { output, error, ...more } = JSON.parse(response);
  if (Object.keys(more).length === 0) {
    if (typeof output === "string" && error === undefined) return { text: output, isError: false };
    if (typeof error === "string" && output === undefined) return { text: error, isError: true };
  }
  return { text: response, isError: false };
}

/** Returns the exact text of an object that was read as `{ text }`. */
function readObjectText(object: StreamedObject, name: string): string {
  const read = findObject(object, name);
  return read ? (findText(read.value, "text") ?? "{}") : "{}";
}

function readMedia(part: StreamedObject, path: string): UserPart {
  const inline = findObject(part, "inlineData")?.value;
  const file = findObject(part, "fileData")?.value;
  const mediaType = findText(inline ?? file ?? {}, "mimeType") ?? "application/octet-stream";
  const name = findText(inline ?? file ?? {}, "displayName");
  const source: MediaSource | null = inline
    ? { mediaType, data: findText(inline, "data") ?? "" }
    : file
      ? { url: findText(file, "fileUri") ?? "" }
      : null;
  if (!source || findField(part, "videoMetadata")) throw untranslatable(path);
  const [kind, format = ""] = mediaType.split("/");
  if (kind === "image") return { type: "image", source };
  if (kind === "audio" && "data" in source)
    return { type: "audio", format: ownValue(AUDIO_FORMATS, format) ?? format, data: source.data };
  return { type: "file", source, ...(name !== undefined && { name }) };
}

/** Audio formats whose MIME subtype differs from the format's name, by MIME subtype. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav" };

function itemsIn(content: StreamedObject): StreamedObject[] {
  return findObjects(content, "parts")?.value ?? [];
}

/**
 * A value that replaces the signature of a tool call without a signature of this protocol. The vendor then checks no
 * signature (Gemini API, thought signatures).
 */
export const UNCHECKED = "skip_thought_signature_validator";

/** A signature. `isRedacted` is true when the signature's piece of reasoning has no text. */
interface Signed {
  signature: Signature;
  isRedacted?: true;
}

const FOREIGN = /^(redacted )?(gw-[^]*)$/;

/** Writes a signature as `thoughtSignature`, which is base64. Another protocol's signature is encoded as base64. */
export function writeSignature({ signature, isRedacted }: Signed): string {
  const sealed = sealSignature(signature, "native");
  if (signature.dialect === "native") return sealed;
  return Buffer.from(`${isRedacted ? "redacted " : ""}${sealed}`).toString("base64");
}

/** Reads the signature of a part that a caller sends back; null when there is no signature. */
export function readSignature(value: unknown): Signed | null {
  if (typeof value !== "string" || value === "" || value === UNCHECKED) return null;
  const [, redacted, sealed] = FOREIGN.exec(Buffer.from(value, "base64").toString()) ?? [];
  if (sealed === undefined) return { signature: { dialect: "native", value } };
  return { signature: openSignature(sealed, "native"), ...(redacted !== undefined && { isRedacted: true }) };
}
