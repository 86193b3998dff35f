import { isObject } from "../../lib/json.ts";
import { readMediaUrl } from "../conversation/media-source.ts";
import type { AssistantPart, FilePart, ImagePart, TextPart } from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";

type Part = Readonly<Record<string, unknown>>;
type ContentPart = TextPart | ImagePart | FilePart;

/** What a user or a tool says: text, pictures and documents. Empty texts are left out. */
export function readContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === "string") return nonEmpty(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part, index) => (isObject(part) ? readPart(part, `${path}[${index}]`) : []));
}

/** The same where there is nothing but text. */
export function readTexts(content: unknown, path: string): TextPart[] {
  return readContent(content, path).map((part) => {
    if (part.type !== "text") throw untranslatable(path);
    return part;
  });
}

/** What the model said earlier: text and refusals. */
export function readAnswer(content: unknown, path: string): AssistantPart[] {
  if (typeof content === "string") return nonEmpty(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part, index): AssistantPart[] => {
    const { type, text, refusal } = isObject(part) ? part : {};
    if (typeof text === "string" && TEXT_TYPES.has(type)) return nonEmpty(text);
    if (type === "refusal" && typeof refusal === "string") return [{ type, text: refusal }];
    throw untranslatable(`${path}[${index}].type`);
  });
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);

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
