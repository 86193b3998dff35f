import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import type { Reply, ReplyEvent, ReplyReader } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/request.ts";
import { openSignature, type Signature } from "../conversation/signature.ts";
import type { VendorReply } from "../dialect.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";
import { checkBegun, readFinish } from "./content.ts";
import { reportedFailure } from "./error.ts";
import { parseMessage } from "./forward.ts";
import { memberText, rawInputs, readAssistantParts } from "./read-blocks.ts";
import { openCallSignature, openThinking } from "./thinking.ts";
import { readCallId } from "./tools.ts";
import { mergeUsage, readUsage, useOf } from "./usage.ts";

/** The block of a tool call that has begun. */
interface OpenCall {
  call: number;
  /** The input in the first event of the call. Some vendors send the whole input there. */
  input: string;
  hasArguments: boolean;
}

/** Reads a vendor's messages stream. Skips events of unknown types. */
export class MessagesReader implements ReplyReader {
  /** Tool calls by the index of their block. */
  readonly #calls = new Map<unknown, OpenCall>();
  #callCount = 0;
  #callSignature: Signature | null = null;
  #usage: Record<string, unknown> = {};
  #hasStopReason = false;
  isDone = false;

  get isComplete(): boolean {
    return this.isDone || this.#hasStopReason;
  }

  *read(data: string): Generator<ReplyEvent, void> {
    // Vendors that relay other vendors may add the end mark of chat completions.
    if (data.startsWith("[DONE]")) return;
    const event = parseVendorObject(data);
    switch (event["type"]) {
      case "message_start":
        return yield* this.#start(event["message"]);
      case "content_block_start":
        return yield* this.#startBlock(event, data);
      case "content_block_delta":
        return yield* this.#readDelta(event);
      case "content_block_stop":
        return yield* this.#endBlock(event["index"]);
      case "message_delta":
        return yield* this.#readEnding(event);
      case "message_stop":
        this.isDone = true;
        return;
      default:
        if (event["error"]) throw reportedFailure(event["error"]);
    }
  }

  *#start(message: unknown): Generator<ReplyEvent, void> {
    if (!isObject(message)) throw new UpstreamError("broken", "a stream that begins without a message");
    const { id, usage } = message;
    yield { type: "start", id: typeof id === "string" ? id : null };
    yield* this.#report(usage);
  }

  *#startBlock(event: Record<string, unknown>, data: string): Generator<ReplyEvent, void> {
    const { content_block: block, index } = event;
    checkBegun(block);
    const { type, text, thinking, data: redacted, signature } = block;
    if (type === "text") yield* piece("text", text);
    else if (type === "thinking") {
      yield* piece("reasoning", thinking);
      yield* signed(signature);
    } else if (type === "redacted_thinking" && typeof redacted === "string") {
      const ofCall = openCallSignature(redacted);
      if (ofCall) this.#callSignature = ofCall;
      else yield { type: "signature", signature: openSignature(redacted, "messages"), isRedacted: true };
    } else if (type === "tool_use") {
      const call = this.#callCount++;
      const input = memberText(memberText(data, "content_block") ?? "{}", "input") ?? "{}";
      this.#calls.set(index, { call, input, hasArguments: false });
      const name = String(block["name"]);
      const signature = this.#callSignature ? { signature: this.#callSignature } : {};
      this.#callSignature = null;
      yield { type: "call", call, id: readCallId(String(block["id"])), name, kind: "function", ...signature };
    }
    if (!TYPES.has(type)) yield { type: "other" };
    const feature = useOf(block);
    if (feature) yield { type: "use", feature };
  }

  *#readDelta({ delta, index }: Record<string, unknown>): Generator<ReplyEvent, void> {
    if (!isObject(delta)) throw new UpstreamError("broken", "a delta that is none");
    const { type, text, thinking, signature, partial_json: json } = delta;
    if (type === "text_delta") yield* piece("text", text);
    else if (type === "thinking_delta") yield* piece("reasoning", thinking);
    else if (type === "signature_delta") yield* signed(signature);
    else if (type === "input_json_delta" && typeof json === "string" && json !== "") {
      const open = this.#calls.get(index);
      if (!open) return;
      open.hasArguments = true;
      yield { type: "arguments", call: open.call, text: json };
    }
  }

  *#endBlock(index: unknown): Generator<ReplyEvent, void> {
    const open = this.#calls.get(index);
    if (!open) return;
    this.#calls.delete(index);
    if (!open.hasArguments) yield { type: "arguments", call: open.call, text: open.input };
  }

  *#readEnding({ delta, usage }: Record<string, unknown>): Generator<ReplyEvent, void> {
    if (isObject(delta) && typeof delta["stop_reason"] === "string") {
      this.#hasStopReason = true;
      yield { type: "finish", finish: readFinish(delta) };
    }
    yield* this.#report(usage);
  }

  *#report(usage: unknown): Generator<ReplyEvent, void> {
    if (!isObject(usage)) return;
    this.#usage = mergeUsage(this.#usage, usage);
    const report = readUsage(this.#usage);
    if (report) yield { type: "usage", report };
  }
}

function* piece(type: "text" | "reasoning", text: unknown): Generator<ReplyEvent, void> {
  if (typeof text === "string" && text !== "") yield { type, text };
}

function* signed(text: unknown): Generator<ReplyEvent, void> {
  const signature = openThinking(text);
  if (signature) yield { type: "signature", signature };
}

/** Types of blocks with a neutral form. Results of the vendor's own tools have no neutral form. */
const TYPES: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

/** Parses a vendor's whole message. Throws an `UpstreamError` for text that is not a message. */
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
    hasOther: blocks.length < content.length,
  };
}

function isSomething(part: AssistantPart): boolean {
  return part.type === "reasoning" ? part.text !== "" || part.signature !== null : !isEmptyText(part);
}

function isEmptyText(part: AssistantPart): boolean {
  return part.type === "text" && part.text === "";
}
