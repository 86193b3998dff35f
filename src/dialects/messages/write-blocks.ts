import { parseBounded } from "../../lib/parse-json.ts";
import { isObject } from "../../lib/json.ts";
import { RawJson } from "../../lib/json-edit.ts";
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  TextPart,
  ToolCall,
  ToolResult,
  UserPart,
} from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { writeCache } from "./content.ts";
import { sealCallSignature } from "./thinking.ts";
import { writeCallId } from "./tools.ts";

export type WrittenBlock = Record<string, unknown>;

/** Field of the caller's request, for error messages. */
type Field = string;

/**
 * Writes texts. Omits texts without visible characters. Models of other vendors write such texts before tool calls, but
 * vendors of this protocol refuse them.
 */
export function writeTexts(parts: readonly TextPart[]): WrittenBlock[] {
  return parts.filter(({ text }) => text.trim() !== "").map(writeText);
}

export function writeUserBlocks(parts: readonly UserPart[], field: Field): WrittenBlock[] {
  return parts.flatMap((part) =>
    part.type === "tool_result" ? [writeResult(part, field)] : writeShown(part, field),
  );
}

/** Writes the assistant's parts. Omits reasoning without a signature of this protocol, which vendors would refuse. */
export function writeAssistantBlocks(parts: readonly AssistantPart[], field: Field): WrittenBlock[] {
  return parts.flatMap((part): WrittenBlock[] => {
    switch (part.type) {
      case "text":
        return writeTexts([part]);
      case "refusal":
        return writeTexts([{ type: "text", text: part.text }]);
      case "reasoning": {
        const { text, signature, isRedacted } = part;
        if (signature?.dialect !== "messages") return [];
        return isRedacted
          ? [{ type: "redacted_thinking", data: signature.value }]
          : [{ type: "thinking", thinking: text, signature: signature.value }];
      }
      case "tool_call":
        return [writeCall(part, field)];
    }
  });
}

/** Writes an earlier tool call. Its arguments stay as the model wrote them. */
function writeCall(call: ToolCall, field: Field): WrittenBlock {
  const { id, name, kind } = call;
  if (kind === "custom") throw untranslatable(field);
  const input = new RawJson(objectText(call.arguments, field));
  return { type: "tool_use", id: writeCallId(id), name, input, ...writeCache(call) };
}

/** Returns arguments that are the text of an object. Missing arguments become an empty object. */
function objectText(text: string, field: Field): string {
  if (text.trim() === "") return "{}";
  try {
    if (isObject(parseBounded(text))) return text;
  } catch {
    // The code below refuses this text, like every value that is not an object.
  }
  throw untranslatable(field, "The arguments of a call must be a JSON object.");
}

function writeResult(result: ToolResult, field: Field): WrittenBlock {
  const content = result.parts.flatMap((part) => writeShown(part, field));
  return {
    type: "tool_result",
    tool_use_id: writeCallId(result.callId),
    ...(content.length > 0 && { content }),
    ...(result.isError && { is_error: true }),
    ...writeCache(result),
  };
}

function writeText(part: TextPart): WrittenBlock {
  return { type: "text", text: part.text, ...writeCache(part) };
}

function writeShown(part: Exclude<UserPart, ToolResult>, field: Field): WrittenBlock[] {
  switch (part.type) {
    case "text":
      return writeTexts([part]);
    case "image":
      return [{ type: "image", source: imageSource(part.source, field), ...writeCache(part) }];
    case "file": {
      const title = part.name === undefined ? {} : { title: part.name };
      return [
        { type: "document", source: documentSource(part.source, field), ...title, ...writeCache(part) },
      ];
    }
    case "audio":
      throw untranslatable(field, "It takes no audio.");
  }
}

/** Accepted formats by the first characters of their base64, because callers often declare a wrong format. */
const IMAGE_TYPES: readonly (readonly [prefix: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

function imageSource(source: ImagePart["source"], field: Field): object {
  if ("url" in source) return { type: "url", url: source.url };
  const { data } = source;
  const type = IMAGE_TYPES.find(([prefix]) => data.startsWith(prefix))?.[1] ?? source.mediaType;
  if (IMAGE_TYPES.some((each) => each[1] === type)) return { type: "base64", media_type: type, data };
  throw untranslatable(field, "Its images are PNG, JPEG, GIF or WebP.");
}

function documentSource(source: FilePart["source"], field: Field): object {
  if ("url" in source) return { type: "url", url: source.url };
  if ("text" in source) return { type: "text", media_type: "text/plain", data: source.text };
  const { mediaType, data } = source;
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
  if (!mediaType.startsWith("text/")) throw untranslatable(field, "Its documents are PDF or text.");
  return { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString() };
}

/** Returns the block with a tool call's signature, for callers. */
export function signatureBlock({ signature }: Pick<ToolCall, "signature">): WrittenBlock[] {
  return signature ? [{ type: "redacted_thinking", data: sealCallSignature(signature) }] : [];
}
