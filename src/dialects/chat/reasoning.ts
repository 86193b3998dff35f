import { JSON_BOUNDS, parseBounded } from "../../lib/parse-json.ts";
import { exceededBound, isObject } from "../../lib/json.ts";
import type { ReasoningPart } from "../conversation/request.ts";
import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";

// OpenAI's chat completions have no field for reasoning. Vendors and clients use two fields. `reasoning_content`
// contains the text (DeepSeek API, "Thinking mode"); Groq, vLLM and OpenRouter call this field `reasoning`.
// `reasoning_details` also contains the signatures that a client must send back (OpenRouter, "Reasoning tokens").

/** One item of `reasoning_details`. */
export interface ReasoningDetail {
  type: "reasoning.text" | "reasoning.encrypted";
  text?: string;
  signature?: string;
  data?: string;
  id?: string;
  format?: string;
  /** Index of the piece of reasoning to which the item belongs. */
  index: number;
}

type Message = Readonly<Record<string, unknown>>;

/** Reads the reasoning of a message or delta as pieces. The next delta may continue a piece without a signature. */
export function readReasoning(message: Message): ReasoningPart[] {
  const details = message["reasoning_details"];
  if (Array.isArray(details) && details.length > 0) return readDetails(details);
  const text = message["reasoning_content"] || message["reasoning"];
  if (typeof text === "string" && text !== "") return [{ type: "reasoning", text, signature: null }];
  return readThinking(message["content"]);
}

function readDetails(details: readonly unknown[]): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const text = textOf(detail["text"]) || textOf(detail["summary"]);
    const data = textOf(detail["data"]);
    const signature = readSignature(detail, data || textOf(detail["signature"]));
    const last = parts.at(-1);
    if (data !== "" && signature) parts.push({ type: "reasoning", text: "", signature, isRedacted: true });
    else if (last && !last.signature) {
      last.text += text;
      last.signature = signature;
    } else if (text !== "" || signature) parts.push({ type: "reasoning", text, signature });
  }
  return parts;
}

/** Reads reasoning from the parts of the content (Mistral API, "Reasoning"). */
function readThinking(content: unknown): ReasoningPart[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): ReasoningPart[] => {
    const thinking = isObject(part) && part["type"] === "thinking" ? part["thinking"] : undefined;
    const pieces: unknown[] = Array.isArray(thinking) ? thinking : [thinking];
    const text = pieces.map((piece) => textOf(isObject(piece) ? piece["text"] : piece)).join("");
    return text === "" ? [] : [{ type: "reasoning", text, signature: null }];
  });
}

/**
 * Reads a signature. A vendor that relays other vendors accepts a signature only with the id and format that it sent.
 * Therefore all three values are packed into one text. A signature without an id is packed only if it has another
 * format than the gateway's `OWN_FORMAT`.
 */
function readSignature({ id, format }: Record<string, unknown>, value: string): Signature | null {
  if (value === "") return null;
  const signature = openSignature(value, "chat");
  const isForeign = typeof id === "string" || (typeof format === "string" && format !== OWN_FORMAT);
  if (signature.dialect !== "chat" || !isForeign) return signature;
  return { dialect: "chat", value: PACKED + JSON.stringify({ value, id, format }) };
}

/** The `format` for a signature whose vendor sends no format. */
const OWN_FORMAT = "unknown";
const PACKED = "detail:";
/** Low limits for an object of three texts. A request may contain thousands of these objects. */
const PACKED_BOUNDS = { ...JSON_BOUNDS, depth: 1, values: 9, perString: 1, names: 3 };

/** Returns a piece of reasoning, or a part of a piece, as items of `reasoning_details`. */
export function writeDetails(
  { text, signature, isRedacted }: Omit<ReasoningPart, "type">,
  index: number,
): ReasoningDetail[] {
  const { value, ...origin } = signature ? unpack(sealSignature(signature, "chat")) : { value: undefined };
  const common = { format: OWN_FORMAT, ...origin, index };
  if (isRedacted) return [{ type: "reasoning.encrypted", data: value ?? "", ...common }];
  if (text === "" && value === undefined) return [];
  return [{ type: "reasoning.text", text, ...(value !== undefined && { signature: value }), ...common }];
}

function unpack(text: string): { value: string; id?: string; format?: string } {
  const packed = text.startsWith(PACKED) ? text.slice(PACKED.length) : null;
  if (packed === null || exceededBound(packed, PACKED_BOUNDS)) return { value: text };
  try {
    const { value, id, format } = Object(parseBounded(packed));
    return { value: textOf(value), ...(id && { id: textOf(id) }), ...(format && { format: textOf(format) }) };
  } catch {
    // Clients may send any text, even text with this prefix that the gateway did not write.
    return { value: text };
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
