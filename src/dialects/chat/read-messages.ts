import { isObject } from "../../lib/json.ts";
import { OpenTurns } from "../conversation/open-turns.ts";
import type {
  AssistantPart,
  Conversation,
  MediaSource,
  TextPart,
  ToolCall,
  Turn,
  UserPart,
} from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import { readReasoning } from "./reasoning.ts";
import { readCall } from "./content.ts";

type Message = Readonly<Record<string, unknown>>;

/**
 * Reads messages into turns. Returns the instructions at the start separately. Joins successive messages of the same
 * side. Tool results become parts of the user's turn. Skips empty texts and empty messages. `hasNames` is true when
 * messages contain names of participants, which only chat supports.
 */
export function readMessages(
  messages: unknown,
): Pick<Conversation, "system" | "turns"> & { hasNames: boolean } {
  let hasNames = false;
  const system: TextPart[] = [];
  const turns = new OpenTurns();
  const list: unknown[] = Array.isArray(messages) ? messages : [];
  list.forEach((message, index) => {
    if (!isObject(message)) throw untranslatable(`messages[${index}]`);
    if (typeof message["name"] === "string" && message["name"] !== "") hasNames = true;
    const turn = readMessage(message, `messages[${index}]`);
    if (turn.role === "system" && turns.isEmpty) for (const part of turn.parts) system.push(part);
    else turns.add(turn);
  });
  return { system, turns: turns.close(), hasNames };
}

function readMessage(message: Message, path: string): Turn {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer":
      return { role: "system", parts: readTexts(content, `${path}.content`) };
    case "user":
      return { role, parts: readContent(content, `${path}.content`) };
    case "assistant":
      return { role, parts: readAssistant(message, path) };
    case "tool": {
      const callId = message["tool_call_id"];
      if (typeof callId !== "string") throw untranslatable(`${path}.tool_call_id`, "It must be a string.");
      const parts = readContent(content, `${path}.content`).map((part) => {
        if (part.type === "audio") throw untranslatable(`${path}.content`);
        return part;
      });
      return { role: "user", parts: [{ type: "tool_result", callId, parts, isError: false }] };
    }
    default:
      throw untranslatable(`${path}.role`);
  }
}

function readAssistant(message: Message, path: string): AssistantPart[] {
  const { content, refusal, tool_calls: calls, function_call: call, audio } = message;
  if (call) throw untranslatable(`${path}.function_call`);
  if (audio) throw untranslatable(`${path}.audio`);
  const parts: AssistantPart[] = [...readReasoning(message), ...readAnswer(content, `${path}.content`)];
  if (typeof refusal === "string" && refusal !== "") parts.push({ type: "refusal", text: refusal });
  if (Array.isArray(calls)) {
    calls.forEach((value: unknown, index) => parts.push(readOwnCall(value, `${path}.tool_calls[${index}]`)));
  }
  return parts;
}

function readOwnCall(value: unknown, path: string): ToolCall {
  const call = readCall(value);
  if (!call || call.id === "") throw untranslatable(path, "It must be a call of a function with its `id`.");
  return call;
}

/** Reads the content of an earlier message of the model: texts and refusals. */
function readAnswer(content: unknown, path: string): AssistantPart[] {
  if (!Array.isArray(content)) return typeof content === "string" ? nonEmpty(content) : [];
  return content.flatMap((part: unknown, index): AssistantPart[] => {
    const { type, text, refusal } = isObject(part) ? part : {};
    if (type === "text" && typeof text === "string") return nonEmpty(text);
    if (type === "refusal" && typeof refusal === "string") return [{ type: "refusal", text: refusal }];
    // Some vendors send reasoning in this part. `readReasoning` reads it.
    if (type === "thinking") return [];
    throw untranslatable(`${path}[${index}].type`);
  });
}

function nonEmpty(text: string): TextPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

type ContentPart = Exclude<UserPart, { type: "tool_result" }>;

function readContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === "string") return nonEmpty(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown, index) =>
    isObject(part) ? readPart(part, `${path}[${index}]`) : [],
  );
}

function readPart(part: Message, path: string): ContentPart[] {
  const { type, cache_control: cacheControl } = part;
  const cached = isObject(cacheControl) ? { cacheControl } : {};
  switch (type) {
    case "text":
      return part["text"] === "" ? [] : [{ type, text: String(part["text"]), ...cached }];
    case "image_url": {
      const { url, detail } = isObject(part["image_url"]) ? part["image_url"] : {};
      const source = readSource(url, `${path}.image_url.url`);
      return [{ type: "image", source, ...(typeof detail === "string" && { detail }), ...cached }];
    }
    case "input_audio": {
      const { data, format } = isObject(part["input_audio"]) ? part["input_audio"] : {};
      if (typeof data !== "string" || typeof format !== "string") throw untranslatable(`${path}.input_audio`);
      return [{ type: "audio", format, data }];
    }
    case "file": {
      const { file_data: data, filename } = isObject(part["file"]) ? part["file"] : {};
      const source = readSource(data, `${path}.file.file_data`);
      return [{ type: "file", source, ...(typeof filename === "string" && { name: filename }), ...cached }];
    }
    default:
      throw untranslatable(`${path}.type`);
  }
}

const DATA_URL = /^data:([^;,]+)(?:;[^,]*)?;base64,/i;

/** Reads the source of media: an `https:` link, or a `data:` URL with base64. */
function readSource(value: unknown, path: string): MediaSource {
  if (typeof value !== "string") throw untranslatable(path);
  if (/^https:/i.test(value)) return { url: value };
  const found = DATA_URL.exec(value.slice(0, 200));
  if (!found?.[1]) throw untranslatable(path, "Send base64: `data:image/png;base64,…`.");
  return { mediaType: found[1].toLowerCase(), data: value.slice(found[0].length) };
}

function readTexts(content: unknown, path: string): TextPart[] {
  return readContent(content, path).map((part) => {
    if (part.type !== "text") throw untranslatable(path);
    return part;
  });
}
