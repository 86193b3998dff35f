import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, textOf, ownValue } from "../../lib/json.ts";
import {
  collectReply,
  type Finish,
  type Reply,
  type ReplyEvent,
  type ReplyReader,
} from "../conversation/reply.ts";
import { readLogprobs } from "../conversation/logprobs.ts";
import { openSignature } from "../conversation/signature.ts";
import type { VendorReply } from "../dialect.ts";
import { newItemId } from "./output-items.ts";
import { parseResponse } from "./forward.ts";
import { readUsage } from "./usage.ts";
import { reportedFailure } from "./error.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Parses the text of a finished response. Throws an `UpstreamError` for a failed response and for any other text. */
export function parseReply(reply: VendorReply): Reply {
  const body = parseResponse(reply);
  const reader = new ResponsesReader();
  const type = body["status"] === "incomplete" ? "response.incomplete" : "response.completed";
  return collectReply(reader.readEvent({ type, response: body }));
}

/** An item of the output, with the lengths of its parts so far. */
interface ReadItem {
  /**
   * Number of characters that were read, for each kind of delta and each part. The last event of the item repeats these
   * characters, but each character must be read only once.
   */
  lengths: Record<string, number>;
  /** Number of the tool call; null for other items. */
  call: number | null;
  isDone: boolean;
}

/**
 * Reads the events of a vendor's stream. Items may arrive in pieces, as a whole, or only in the last event. Nothing is
 * read twice. Skips events of unknown types. Reports items of unknown types as `other`.
 */
export class ResponsesReader implements ReplyReader {
  readonly #items = new Map<unknown, ReadItem>();
  #calls = 0;
  #isStarted = false;
  isDone = false;

  get isComplete(): boolean {
    return this.isDone;
  }

  read(data: string): Iterable<ReplyEvent> {
    return this.readEvent(parseVendorObject(data));
  }

  *readEvent(event: Fields): Generator<ReplyEvent, void> {
    const { type, item, response, delta } = event;
    const index = event["output_index"];
    if (type === "error" || event["error"]) throw reportedFailure(event);
    if (type === "response.failed") {
      const { error = null, usage } = isObject(response) ? response : {};
      const report = readUsage(usage);
      if (report) yield { type: "usage", report };
      throw reportedFailure(error);
    }
    if (isObject(response)) yield* this.#start(response);
    if (type === "response.output_item.added" && isObject(item)) yield* this.#begin(index, item);
    else if (type === "response.output_item.done" && isObject(item)) yield* this.#readItem(index, item);
    else if (type === "response.completed" || type === "response.incomplete")
      yield* this.#finish(response, type);
    else if (typeof delta === "string" && typeof type === "string")
      yield* this.#readDelta(type, event, delta);
  }

  *#start({ id }: Fields): Generator<ReplyEvent, void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    yield { type: "start", id: typeof id === "string" ? id : null };
  }

  /** Returns the item at this position of the output. Yields an event that announces a new tool call. */
  *#begin(index: unknown, item: Fields): Generator<ReplyEvent, ReadItem> {
    const known = this.#items.get(index);
    if (known) return known;
    const { type, call_id: id, name } = item;
    const isCall = type === "function_call" || type === "custom_tool_call";
    const read: ReadItem = { lengths: {}, call: isCall ? this.#calls++ : null, isDone: false };
    this.#items.set(index, read);
    if (read.call !== null) {
      const kind = type === "function_call" ? "function" : "custom";
      const callId = typeof id === "string" && id !== "" ? id : newItemId("call");
      yield { type: "call", call: read.call, id: callId, name: textOf(name), kind };
    }
    return read;
  }

  *#readDelta(type: string, event: Fields, delta: string): Generator<ReplyEvent, void> {
    const kind = ownValue(KIND_BY_DELTA, type);
    if (kind === undefined) return;
    // Without the start of the item, the name of the call is unknown. The end of the item contains the whole call.
    if (kind === "arguments" && !this.#items.has(event["output_index"])) return;
    const read = yield* this.#begin(event["output_index"], {});
    const tokens = kind === "text" ? readLogprobs(event["logprobs"]) : [];
    if (tokens.length > 0) yield { type: "logprobs", tokens };
    const part = event["summary_index"] ?? event["content_index"];
    yield* append(read, kind, typeof part === "number" ? part : 0, delta);
  }

  /** Reads the parts of a whole item that were not read yet. */
  *#readItem(index: unknown, item: Fields): Generator<ReplyEvent, void> {
    const read = yield* this.#begin(index, item);
    if (read.isDone) return;
    read.isDone = true;
    const { type, content, summary, encrypted_content: encrypted } = item;
    switch (type) {
      case "message":
        for (const [at, { type: partType, text, refusal, logprobs }] of partsOf(content).entries()) {
          // The events with the pieces of this text already contained these log probabilities.
          const tokens = read.lengths[`text/${at}`] === undefined ? readLogprobs(logprobs) : [];
          if (tokens.length > 0) yield { type: "logprobs", tokens };
          if (partType === "output_text") yield* this.#rest(read, "text", at, text);
          else if (partType === "refusal") yield* this.#rest(read, "refusal", at, refusal);
        }
        return;
      case "function_call":
        return yield* this.#rest(read, "arguments", 0, item["arguments"]);
      case "custom_tool_call":
        return yield* this.#rest(read, "arguments", 0, item["input"]);
      case "reasoning": {
        for (const [at, { text }] of partsOf(summary).entries()) yield* this.#rest(read, "summary", at, text);
        for (const [at, { text }] of partsOf(content).entries()) yield* this.#rest(read, "thought", at, text);
        if (typeof encrypted !== "string" || encrypted === "") return;
        const isShown = Object.keys(read.lengths).length > 0 || partsOf(summary).length > 0;
        const signature = openSignature(encrypted, "responses");
        yield { type: "signature", signature, ...(!isShown && { isRedacted: true as const }) };
        return;
      }
      default:
        if (typeof type === "string") yield { type: "other" };
    }
  }

  *#rest(read: ReadItem, kind: DeltaKind, part: number, text: unknown): Generator<ReplyEvent, void> {
    if (typeof text !== "string") return;
    yield* append(read, kind, part, text.slice(read.lengths[`${kind}/${part}`] ?? 0));
  }

  *#finish(response: unknown, type: string): Generator<ReplyEvent, void> {
    if (!isObject(response)) throw new UpstreamError("broken", "a stream that ends without a response");
    const { output, usage } = response;
    if (Array.isArray(output)) {
      for (const [index, item] of output.entries()) if (isObject(item)) yield* this.#readItem(index, item);
    }
    yield { type: "finish", finish: { reason: this.#reasonOf(response, type), stopSequence: null } };
    const report = readUsage(usage);
    if (report) yield { type: "usage", report };
    this.isDone = true;
  }

  #reasonOf({ incomplete_details: details }: Fields, type: string): Finish["reason"] {
    if (type === "response.incomplete")
      return isObject(details) && details["reason"] === "content_filter" ? "refused" : "length";
    return this.#calls > 0 ? "tool_calls" : "stop";
  }
}

/** Kinds of deltas. `summary` is a summary of the reasoning; `thought` is the reasoning itself. */
type DeltaKind = "text" | "refusal" | "summary" | "thought" | "arguments";

const KIND_BY_DELTA: Readonly<Record<string, DeltaKind | undefined>> = {
  "response.output_text.delta": "text",
  "response.refusal.delta": "refusal",
  "response.reasoning_summary_text.delta": "summary",
  "response.reasoning_text.delta": "thought",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "arguments",
};

function* append(read: ReadItem, kind: DeltaKind, part: number, text: string): Generator<ReplyEvent, void> {
  if (text === "") return;
  const key = `${kind}/${part}`;
  const isFirst = read.lengths[key] === undefined;
  read.lengths[key] = (read.lengths[key] ?? 0) + text.length;
  if (kind === "arguments") {
    if (read.call !== null) yield { type: "arguments", call: read.call, text };
    return;
  }
  if (kind === "text" || kind === "refusal") return yield { type: kind, text };
  // The full text is skipped after a summary, which contains the same reasoning in fewer words.
  if (kind === "thought" && read.lengths["summary/0"] !== undefined) return;
  const isNextPart = isFirst && part !== 0;
  yield { type: "reasoning", text: isNextPart ? `\n\n${text}` : text };
}

function partsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
