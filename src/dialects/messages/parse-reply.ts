import type { Reply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/request.ts";
import type { VendorReply } from "../dialect.ts";
import { rawInputs } from "./raw-inputs.ts";
import { readAssistantParts } from "./read-blocks.ts";
import { parseMessage } from "./forward.ts";
import { readFinish } from "./reply-parts.ts";
import { readUsage, useOf } from "./usage.ts";

/** Blocks that have a neutral form. What the vendor's own tools did is none of them. */
const TYPES: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

/** Parses a vendor's whole message. Throws an `UpstreamError` for what is none. */
export function parseReply(reply: VendorReply): Reply {
  const body = parseMessage(reply);
  const { id, content } = body;
  const inputs = rawInputs(reply.text, content);
  const blocks = content.filter((block) => TYPES.has(block["type"]));
  const parts = readAssistantParts(blocks, "content", (block) => inputs.get(block) ?? "{}");
  return {
    id: typeof id === "string" ? id : null,
    parts: parts.filter(isSomething),
    finish: readFinish(body),
    report: readUsage(body["usage"]),
    uses: content.map(useOf).filter((use) => use !== null),
  };
}

function isSomething(part: AssistantPart): boolean {
  return part.type === "reasoning" ? part.text !== "" || part.signature !== null : !isEmptyText(part);
}

function isEmptyText(part: AssistantPart): boolean {
  return part.type === "text" && part.text === "";
}
