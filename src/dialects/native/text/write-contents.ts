import type { RawJson } from "../../../lib/json-edit.ts";
import { readArguments } from "../../conversation/call-arguments.ts";
import type {
  AssistantPart,
  AudioPart,
  Conversation,
  FilePart,
  ImagePart,
  ToolCall,
  ToolResult,
  UserPart,
} from "../../conversation/request.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import { UNCHECKED } from "./read-parts.ts";
import { ownValue } from "../../../lib/json.ts";

export interface Content {
  role: "user" | "model";
  parts: object[];
}

/**
 * Writes the turns of a conversation. Function results get their own turn and contain the name of the called function.
 * With `isChecked`, the vendor requires a signature on the first tool call of each turn of the model. If this call has
 * no signature of this protocol, `UNCHECKED` is sent as its signature.
 */
export function writeContents(
  { turns, params }: Conversation,
  { isChecked }: { isChecked: boolean },
): Content[] {
  const contents: Content[] = [];
  const names = new Map<string, string>();
  const param = params.turns ?? "turns";
  for (const { role, parts } of turns) {
    if (role === "assistant") {
      for (const part of parts) if (part.type === "tool_call") names.set(part.id, part.name);
      add(contents, "model", writeAssistant(parts, isChecked, param));
      continue;
    }
    // An instruction in the middle of the conversation becomes text of the user in its position.
    const userParts: readonly UserPart[] = parts;
    const results = userParts.filter((part) => part.type === "tool_result");
    add(contents, "user", writeResults(results, names, param));
    const others = userParts.filter((part) => part.type !== "tool_result");
    // The other parts form a separate turn after the results.
    add(contents, "user", others.flatMap(writeUser), results.length > 0);
  }
  return contents;
}

/**
 * Adds parts to the contents. Joins successive contents of the same side, but not after tool results. Ignores an empty
 * list of parts.
 */
function add(contents: Content[], role: Content["role"], parts: object[], isApart = false): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  // Checking the first part is enough, because results come before all other parts of a content.
  const holdsResults = last?.parts[0] !== undefined && "functionResponse" in last.parts[0];
  if (last?.role === role && !isApart && !holdsResults) for (const part of parts) last.parts.push(part);
  else contents.push({ role, parts });
}

function writeUser(part: Exclude<UserPart, ToolResult>): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
  return [writeMedia(part)];
}

/** Writes media without file names: the Gemini API has no field for file names (Gemini API reference, `Blob`). */
function writeMedia(part: ImagePart | AudioPart | FilePart): object {
  if (part.type === "audio")
    return {
      inlineData: {
        mimeType: `audio/${ownValue(MIME_SUBTYPES, part.format) ?? part.format}`,
        data: part.data,
      },
    };
  const { source } = part;
  if ("text" in source) return { text: source.text };
  if ("data" in source) return { inlineData: { mimeType: source.mediaType, data: source.data } };
  const data = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(source.url);
  if (data) return { inlineData: { mimeType: data[1], data: data[2] } };
  // The vendor fetches public links, but needs the MIME type in the request (Gemini API, file input methods).
  return { fileData: { mimeType: typeOfLink(source.url, part.type), fileUri: source.url } };
}

/** MIME subtypes of audio formats, if the subtype differs from the format's name. */
const MIME_SUBTYPES: Readonly<Record<string, string>> = { mp3: "mpeg" };

/** Returns the MIME type of a link by its extension. For an unknown extension, returns the most frequent type. */
function typeOfLink(link: string, kind: "image" | "file"): string {
  const extension = /\.([a-z0-9]+)$/i.exec(URL.parse(link)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  return ownValue(LINK_TYPES, extension) ?? (kind === "image" ? "image/jpeg" : "application/pdf");
}

const LINK_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
  html: "text/html",
};

/** Writes the tool results of one turn as parts. */
function writeResults(
  results: readonly ToolResult[],
  names: ReadonlyMap<string, string>,
  param: string,
): object[] {
  const media: object[] = [];
  const written = results.map(({ callId, parts, isError }) => {
    const name = names.get(callId);
    if (name === undefined) throw untranslatable(param, "Each result of a tool must follow its call.");
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    for (const part of parts) if (part.type !== "text") media.push(writeMedia(part));
    return { functionResponse: { id: callId, name, response: isError ? { error: text } : { output: text } } };
  });
  return [...written, ...media];
}

function writeAssistant(parts: readonly AssistantPart[], isChecked: boolean, param: string): object[] {
  let isFirstCall = true;
  return parts.flatMap((part): object[] => {
    switch (part.type) {
      case "text":
      case "refusal":
        return part.text === "" ? [] : [{ text: part.text }];
      case "reasoning":
        // Reasoning without a signature of this protocol is omitted, because this vendor would refuse it.
        return part.signature?.dialect === "native" && !part.isRedacted
          ? [{ text: part.text, thought: true, thoughtSignature: part.signature.value }]
          : [];
      case "tool_call": {
        const needsSignature = isChecked && isFirstCall;
        isFirstCall = false;
        return [writeCall(part, needsSignature, param)];
      }
    }
  });
}

function writeCall(call: ToolCall, needsSignature: boolean, param: string): object {
  const own = call.signature?.dialect === "native" ? call.signature.value : null;
  const thoughtSignature = own ?? (needsSignature ? UNCHECKED : null);
  return {
    functionCall: { id: call.id, name: call.name, args: argumentsOf(call, param) },
    ...(thoughtSignature !== null && { thoughtSignature }),
  };
}

/** Returns a tool call's arguments as an object. Custom tools were converted to functions with JSON arguments. */
function argumentsOf(call: ToolCall, param: string): RawJson {
  const args = call.kind === "function" ? readArguments(call.arguments) : null;
  if (!args) throw untranslatable(param, "The arguments of a call must be a JSON object.");
  return args;
}
