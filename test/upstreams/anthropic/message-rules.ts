import { isObject } from "../../../src/lib/json.ts";
import { invalid, type Refusal } from "./refusals.ts";
import type { Body, SimulatedModel } from "./rules.ts";
import { isSigned } from "./signatures.ts";

type Block = Record<string, unknown>;

const IMAGES: ReadonlySet<unknown> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const MAX_MARKS = 4;

/** Returns the fault of a conversation (Anthropic API, "Messages" and "Tool use"). */
export function findMessageFault(body: Body, model: SimulatedModel): Refusal | undefined {
  const { messages, system, tools } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    return invalid("messages: at least one message is required");
  const turns = messages.map((message) => ({
    role: String(message?.role),
    blocks: blocksOf(message?.content),
  }));
  for (const [index, { role, blocks }] of turns.entries()) {
    if (role !== "user" && role !== "assistant")
      return invalid(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    const isLast = index === turns.length - 1;
    if (blocks.length === 0 && !(isLast && role === "assistant"))
      return invalid(`messages.${index}: all messages must have non-empty content`);
    for (const [at, block] of blocks.entries()) {
      const fault = findBlockFault(block, role);
      if (fault) return invalid(`messages.${index}.content.${at}.${fault}`);
    }
    const fault = findOrderFault(blocks, turns[index + 1]);
    if (fault) return invalid(`messages.${index}: ${fault}`);
    const orphan = findOrphan(blocks, turns[index - 1]?.blocks ?? []);
    if (orphan) return invalid(`messages.${index}: unexpected \`tool_use_id\`: ${orphan}`);
  }
  if (turns[0]?.role !== "user") return invalid('messages: first message must use the "user" role');
  return (
    findEndFault(body, turns, model) ?? findMarkFault([system, tools, turns.map(({ blocks }) => blocks)])
  );
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function findBlockFault(block: Block, role: string): string | undefined {
  const { type, text, source, id, input, signature, thinking, data } = block;
  switch (type) {
    case "text":
      if (text === "") return "text: text content blocks must be non-empty";
      return String(text).trim() === ""
        ? "text: text content blocks must contain non-whitespace text"
        : undefined;
    case "image": {
      const { type: kind, media_type: media } = isObject(source) ? source : {};
      return kind === "base64" && !IMAGES.has(media)
        ? "image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        : undefined;
    }
    case "tool_use":
      if (role !== "assistant") return "tool_use: only allowed in assistant messages";
      if (!/^[a-zA-Z0-9_-]+$/.test(String(id))) return "tool_use.id: String should match pattern";
      return isObject(input) ? undefined : "tool_use.input: Input should be a valid dictionary";
    case "tool_result": {
      const inner = blocksOf(block["content"]).map((each) => findBlockFault(each, role));
      return role === "user" ? inner.find((fault) => fault) : "tool_result: only allowed in user messages";
    }
    case "thinking":
      return isSigned(String(thinking), signature) ? undefined : "Invalid `signature` in `thinking` block";
    case "redacted_thinking":
      return isSigned("redacted", data) ? undefined : "Invalid `data` in `redacted_thinking` block";
    case "document":
    case "search_result":
      return undefined;
    default:
      return `type: Input tag '${String(type)}' found does not match any of the expected tags`;
  }
}

/** Returns the fault when ids of calls repeat, or when the next message does not begin with a result for every call. */
function findOrderFault(blocks: Block[], next: { role: string; blocks: Block[] } | undefined) {
  const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  if (new Set(calls).size < calls.length) return "`tool_use` ids must be unique";
  if (calls.length === 0 || !next) return undefined;
  const results = next.blocks.slice(0, calls.length).map(({ tool_use_id: id }) => id);
  const missing = calls.filter((id) => !results.includes(id));
  return missing.length > 0
    ? `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`
    : undefined;
}

function findOrphan(blocks: Block[], before: Block[]): unknown {
  const calls = before.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  return blocks.find(({ type, tool_use_id: id }) => type === "tool_result" && !calls.includes(id))?.[
    "tool_use_id"
  ];
}

function findEndFault(
  { thinking }: Body,
  turns: readonly { role: string; blocks: Block[] }[],
  model: SimulatedModel,
): Refusal | undefined {
  const last = turns.at(-1)!;
  if (last.role === "assistant") {
    if (model.thinking === "adaptive")
      return invalid(
        "This model does not support assistant message prefill. The conversation must end with a user message.",
      );
    const text = String(last.blocks.at(-1)?.["text"] ?? "");
    if (text !== text.trimEnd())
      return invalid("messages: final assistant content cannot end with trailing whitespace");
  }
  const answer = turns.findLast(({ role }) => role === "assistant")?.blocks ?? [];
  const isCalling = answer.some(({ type }) => type === "tool_use");
  const isThinking = isObject(thinking) && thinking["type"] === "enabled";
  if (isThinking && isCalling && !String(answer[0]?.["type"]).endsWith("thinking"))
    return invalid(
      "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    );
  return undefined;
}

function findMarkFault(value: unknown): Refusal | undefined {
  const marks = JSON.stringify(value ?? null).match(/"cache_control":\{/g)?.length ?? 0;
  return marks > MAX_MARKS
    ? invalid(`A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks}.`)
    : undefined;
}
