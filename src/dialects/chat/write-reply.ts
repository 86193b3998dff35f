import type { TokenUsage } from "../../domain/usage.ts";
import type { Reply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/request.ts";
import { writeFinish } from "./finish-reason.ts";
import { writeDetails } from "./reasoning.ts";
import { newReplyId } from "./reply-id.ts";
import type { ChatPayload } from "./request.ts";
import { writeCall } from "./tools.ts";
import { writeUsage } from "./usage.ts";

/** Writes a whole reply as a chat completion under the model's public name, with what is billed. */
export function writeReply(reply: Reply, { parsed }: ChatPayload, usage: TokenUsage): string {
  const choice = {
    index: 0,
    message: writeMessage(reply.parts),
    logprobs: null,
    finish_reason: writeFinish(reply.finish),
  };
  return JSON.stringify({
    ...replyHead(reply.id, "chat.completion", parsed.model),
    choices: [choice],
    usage: writeUsage(usage),
  });
}

/** What every object of a reply begins with. Ids of other protocols give way to one in chat's own form. */
export function replyHead(
  id: string | null,
  object: "chat.completion" | "chat.completion.chunk",
  model: string,
) {
  return {
    id: id?.startsWith("chatcmpl-") ? id : newReplyId(),
    object,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

function writeMessage(parts: readonly AssistantPart[]): object {
  const text = textOf(parts, "text");
  const refusal = textOf(parts, "refusal");
  const reasoning = textOf(parts, "reasoning");
  const details = parts.filter((part) => part.type === "reasoning").flatMap(writeDetails);
  const calls = parts.filter((part) => part.type === "tool_call").map(writeCall);
  return {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function textOf(parts: readonly AssistantPart[], type: "text" | "refusal" | "reasoning"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}
