import { writeMediaUrl } from "../conversation/media-source.ts";
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  ReasoningPart,
  TextPart,
  ToolCall,
  ToolResult,
  Turn,
  UserPart,
} from "../conversation/request.ts";
import { untranslatable } from "../conversation/untranslatable.ts";

type ContentPart = TextPart | ImagePart | FilePart;

/** Writes turns as the items of a request, in their order. */
export function writeItems(turns: readonly Turn[]): object[] {
  const customCalls = new Set<string>();
  return turns.flatMap((turn) => {
    switch (turn.role) {
      case "system":
        return [{ type: "message", role: "developer", content: turn.parts.map(writePart) }];
      case "user":
        return writeUser(turn.parts, customCalls);
      case "assistant":
        return writeAssistant(turn.parts, customCalls);
    }
  });
}

function writeUser(parts: readonly UserPart[], customCalls: ReadonlySet<string>): object[] {
  const items: object[] = [];
  let content: object[] = [];
  for (const part of parts) {
    if (part.type !== "tool_result") content.push(writeUserPart(part));
    else {
      flush();
      items.push(writeResult(part, customCalls.has(part.callId)));
    }
  }
  flush();
  return items;

  function flush(): void {
    if (content.length > 0) items.push({ type: "message", role: "user", content });
    content = [];
  }
}

function writeUserPart(part: Exclude<UserPart, ToolResult>): object {
  if (part.type === "audio") throw untranslatable("input_audio", "Send text instead of audio.");
  return writePart(part);
}

function writePart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image": {
      const { source, detail } = part;
      const url = writeMediaUrl(source);
      return { type: "input_image", image_url: url, ...(detail !== undefined && { detail }) };
    }
    case "file":
      return writeFile(part);
  }
}

function writeFile({ source, name }: FilePart): object {
  if ("text" in source) return { type: "input_text", text: source.text };
  if ("url" in source)
    return { type: "input_file", file_url: source.url, ...(name !== undefined && { filename: name }) };
  // Data must have a name (OpenAI file inputs guide).
  return { type: "input_file", filename: name ?? "document.pdf", file_data: writeMediaUrl(source) };
}

function writeResult({ callId, parts, isError }: ToolResult, isCustom: boolean): object {
  const marked = isError ? [{ type: "text" as const, text: "Error:" }, ...parts] : parts;
  const [only, ...others] = marked;
  const text = only === undefined ? "" : only.type === "text" && others.length === 0 ? only.text : null;
  return {
    type: isCustom ? "custom_tool_call_output" : "function_call_output",
    call_id: callId,
    output: text ?? marked.map(writePart),
  };
}

/** What the model said in a row is one message; reasoning and calls are items of their own. */
function writeAssistant(parts: readonly AssistantPart[], customCalls: Set<string>): object[] {
  const items: object[] = [];
  let content: object[] = [];
  for (const part of parts) {
    if (part.type === "text") content.push({ type: "output_text", text: part.text, annotations: [] });
    else if (part.type === "refusal") content.push({ type: "refusal", refusal: part.text });
    else {
      flush();
      if (part.type === "tool_call") items.push(writeCall(part, customCalls));
      else items.push(...writeReasoning(part));
    }
  }
  flush();
  return items;

  function flush(): void {
    if (content.length > 0) items.push({ type: "message", role: "assistant", status: "completed", content });
    content = [];
  }
}

function writeCall({ id, name, kind, arguments: text }: ToolCall, customCalls: Set<string>): object {
  if (kind === "custom") {
    customCalls.add(id);
    return { type: "custom_tool_call", call_id: id, name, input: text };
  }
  return { type: "function_call", call_id: id, name, arguments: text === "" ? "{}" : text };
}

/** Reasoning that the vendor cannot prove to be its own would be refused, so it is left out. */
function writeReasoning({ text, signature }: ReasoningPart): object[] {
  if (signature?.dialect !== "responses") return [];
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return [{ type: "reasoning", summary, encrypted_content: signature.value }];
}
