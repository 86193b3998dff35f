import { parseBounded } from "../../lib/bounded-json.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { RawJson, writeJson } from "../../lib/json-write.ts";
import type { Reply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/request.ts";
import { sealThinking } from "./carried-signature.ts";
import { writeCallId } from "./ids.ts";
import { CALL_EXTRAS, messageId, NO_EXTRAS, writeFinish } from "./reply-parts.ts";
import type { MessagesPayload } from "./request.ts";
import { writeUsage } from "./usage.ts";
import { signatureBlock, type WrittenBlock } from "./write-blocks.ts";

/** The text of a whole message for the caller of this request. */
export function writeReply(reply: Reply, { parsed }: MessagesPayload, usage: TokenUsage): string {
  const hasCalls = reply.parts.some(({ type }) => type === "tool_call");
  return writeJson({
    id: messageId(reply.id),
    type: "message",
    role: "assistant",
    model: parsed.model,
    ...NO_EXTRAS,
    content: reply.parts.flatMap(writePart),
    ...writeFinish(reply.finish, hasCalls),
    usage: writeUsage(usage),
  });
}

function writePart(part: AssistantPart): WrittenBlock[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning": {
      const signature = sealThinking(part.signature);
      return part.isRedacted
        ? [{ type: "redacted_thinking", data: signature }]
        : [{ type: "thinking", thinking: part.text, signature }];
    }
    case "tool_call": {
      const input = new RawJson(inputText(part.arguments));
      return [
        ...signatureBlock(part),
        { type: "tool_use", id: writeCallId(part.id), name: part.name, input, ...CALL_EXTRAS },
      ];
    }
  }
}

/** A model may write arguments that are no JSON object, above all where its output was cut: then there are none. */
function inputText(text: string): string {
  try {
    return isObject(parseBounded(text)) ? text : "{}";
  } catch {
    return "{}";
  }
}
