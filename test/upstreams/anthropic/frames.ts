import { isObject } from "../../../src/lib/json.ts";
import { RawJson } from "../../../src/lib/json-edit.ts";
import type { Behaviour } from "../behaviour.ts";
import type { MessageReply } from "./reply.ts";

const STREAM_ERROR = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const EXTRAS = { container: null, diagnostics: null };
const ID = "msg_simulated0001";

/** Returns a complete message in the vendor's format. */
export function writeWhole({ model, content, stop, usage }: MessageReply, { fault }: Behaviour): object {
  const blocks = fault === "unknown-kinds" ? [...UNKNOWN_BLOCKS, ...content] : content;
  const head = { id: ID, type: "message", role: "assistant", model, ...EXTRAS, content: blocks, ...stop };
  return { ...head, stop_details: null, ...(usage !== undefined && { usage }) };
}

/** Yields the frames of a streamed message, with the fault of the behaviour (Anthropic API, "Streaming messages"). */
export function* writeFrames(reply: MessageReply, behaviour: Behaviour): Generator<string> {
  const { fault, after = 2 } = behaviour;
  const write = (event: { type: string; [name: string]: unknown }) => frame(event, behaviour);
  if (fault === "error-frame-first") return yield write(STREAM_ERROR);
  if (fault === "comments") yield ": waiting\n\n";
  yield write({ type: "message_start", message: startOf(reply) });
  if (fault === "done-only") return yield write({ type: "message_stop" });
  yield write({ type: "ping" });
  let sent = 0;
  for (const event of blockEvents(reply, fault === "unknown-kinds")) {
    yield write(event);
    if (fault === "comments") yield ": still here\n\n";
    if (event.type === "content_block_delta") sent += 1;
    if (fault === "error-frame-later" && sent > after) return yield write(STREAM_ERROR);
  }
  const { usage, stop } = reply;
  const last = { ...(usage !== undefined && { usage: usage === null ? null : lastOf(usage) }) };
  if (fault === "usage-twice")
    yield write({
      type: "message_delta",
      delta: { stop_reason: null, stop_sequence: null, stop_details: null, container: null },
      ...last,
    });
  yield write({ type: "message_delta", delta: { ...stop, stop_details: null, container: null }, ...last });
  if (fault !== "no-done") yield write({ type: "message_stop" });
  if (fault === "done-twice") yield "data: [DONE]\n\n";
  if (fault === "chunk-after-done") yield write({ type: "content_block_stop", index: 99 });
}

function startOf({ model, usage }: MessageReply): object {
  const early = isObject(usage) ? { ...usage, output_tokens: 1, output_tokens_details: null } : usage;
  const head = { id: ID, type: "message", role: "assistant", model, ...EXTRAS, content: [] };
  const stop = { stop_reason: null, stop_sequence: null, stop_details: null };
  return { ...head, ...stop, ...(usage !== undefined && { usage: early }) };
}

/** Returns cumulative counts, without those of the cache and of server tools. */
function lastOf(usage: unknown): unknown {
  if (!isObject(usage)) return usage;
  const { input_tokens, output_tokens, output_tokens_details } = usage;
  const unsaid = { cache_creation_input_tokens: null, cache_read_input_tokens: null };
  return { input_tokens, output_tokens, output_tokens_details, ...unsaid, server_tool_use: null };
}

function* blockEvents(reply: MessageReply, hasUnknown: boolean): Generator<{ type: string }> {
  const content = hasUnknown ? [...UNKNOWN_BLOCKS, ...reply.content] : reply.content;
  for (const [index, block] of content.entries()) {
    if (hasUnknown) yield { type: "progress_note", index } as { type: string };
    yield { type: "content_block_start", index, content_block: emptied(block) } as { type: string };
    for (const delta of deltasOf(block, reply.pieces))
      yield { type: "content_block_delta", index, delta } as { type: string };
    yield { type: "content_block_stop", index } as { type: string };
  }
}

const UNKNOWN_BLOCKS = [{ type: "hologram", beam: { width: 3 } }];

function emptied(block: Record<string, unknown>): object {
  switch (block["type"]) {
    case "text":
      return { ...block, text: "" };
    case "thinking":
      return { ...block, thinking: "", signature: "" };
    case "tool_use":
      return { ...block, input: {} };
    default:
      return block;
  }
}

function* deltasOf(block: Record<string, unknown>, pieces: number): Generator<object> {
  const { type, text, thinking, signature, input } = block;
  if (type === "text")
    for (const piece of cut(String(text), pieces)) yield { type: "text_delta", text: piece };
  if (type === "thinking") {
    for (const piece of cut(String(thinking), 3)) yield { type: "thinking_delta", thinking: piece };
    yield { type: "signature_delta", signature };
  }
  if (type !== "tool_use") return;
  yield { type: "input_json_delta", partial_json: "" };
  for (const piece of cut(input instanceof RawJson ? input.text : "", 4))
    yield { type: "input_json_delta", partial_json: piece };
}

function cut(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  return text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
}

function frame(event: { type: string }, { fault }: Behaviour): string {
  const end = fault === "crlf" ? "\r\n" : fault === "cr" ? "\r" : "\n";
  const space = fault === "no-space" ? "" : " ";
  const name = fault === "no-names" ? "" : `event:${space}${event.type}${end}`;
  return `${name}data:${space}${JSON.stringify(event)}${end}${end}`;
}
