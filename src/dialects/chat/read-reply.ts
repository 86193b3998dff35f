import { isObject } from "../../lib/json.ts";
import {
  type Finish,
  type ReplyEvent,
  type ReplyReader,
  collectReply,
  type Reply,
} from "../conversation/reply.ts";
import { readLogprobs } from "../conversation/logprobs.ts";
import type { ReasoningPart, ToolCall } from "../conversation/request.ts";
import type { VendorReply } from "../dialect.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";
import { CallNumbers, contentText, newCallId, readCall } from "./content.ts";
import { errorOf, firstChoice, inStreamError, usageOf, readFinish, parseCompletion } from "./event.ts";
import { readReasoning } from "./reasoning.ts";
import { readUsage } from "./usage.ts";

/** Reads a vendor's chunks. `finish_reason` or `[DONE]` completes the reply, because some vendors send only one. */
export class ChatReplyReader implements ReplyReader {
  readonly #calls = new CallDeltas();
  readonly #tags = new ThinkTags();
  #hasStarted = false;
  #finish: Finish | null = null;
  /** Text of the reasoning that arrived after the last `reasoning_details`. */
  #plainReasoning = "";
  isDone = false;

  get isComplete(): boolean {
    return this.isDone || this.#finish !== null;
  }

  *read(data: string): Generator<ReplyEvent> {
    if (data.startsWith("[DONE]")) {
      this.isDone = true;
      if (!this.#finish && this.#hasStarted) yield* this.#end(readFinish("stop", this.#calls.hasCalls));
      return;
    }
    yield* this.readEvent(parseVendorObject(data));
  }

  /** Reads a chunk or a whole reply. A whole reply has `message` instead of `delta`. */
  *readEvent(event: Record<string, unknown>): Generator<ReplyEvent> {
    const error = errorOf(event);
    if (error) throw inStreamError(error);
    const { id, choices } = event;
    if (!this.#hasStarted && Array.isArray(choices) && choices.length > 0) {
      this.#hasStarted = true;
      yield { type: "start", id: typeof id === "string" && id !== "" ? id : null };
    }
    // Only the first choice is read, because other protocols have no choices.
    const choice = firstChoice(choices);
    if (choice) yield* this.#readChoice(choice);
    const report = readUsage(usageOf(event));
    if (report) yield { type: "usage", report };
  }

  *#readChoice(choice: Record<string, unknown>): Generator<ReplyEvent> {
    const { delta, message, logprobs, finish_reason: reason } = choice;
    const tokens = readLogprobs(isObject(logprobs) ? logprobs["content"] : null);
    if (tokens.length > 0) yield { type: "logprobs", tokens };
    const news = delta ?? message;
    const isWhole = delta === undefined;
    if (isObject(news)) yield* this.#readDelta(news, { isWhole, isCut: reason === "length" });
    const finish = readFinish(reason, this.#calls.hasCalls);
    if (finish && !this.#finish) yield* this.#end(finish);
  }

  *#readDelta(
    delta: Record<string, unknown>,
    { isWhole, isCut }: { isWhole: boolean; isCut: boolean },
  ): Generator<ReplyEvent> {
    const { content, refusal, tool_calls: calls } = delta;
    if (OTHERS.some((name) => hasMembers(delta[name]))) yield { type: "other" };
    for (const { text, signature, isRedacted } of this.#newReasoning(delta)) {
      if (text !== "") yield { type: "reasoning", text };
      if (signature) yield { type: "signature", signature, ...(isRedacted && { isRedacted }) };
    }
    const text = contentText(content);
    if (text !== "" && isWhole && !isCut && !text.includes(CLOSE)) yield { type: "text", text };
    else if (text !== "") yield* this.#tags.read(text);
    if (typeof refusal === "string" && refusal !== "") yield { type: "refusal", text: refusal };
    if (!Array.isArray(calls) || calls.length === 0) return;
    yield* this.#tags.end(isCut);
    yield* this.#calls.read(calls, { areWhole: isWhole });
  }

  /**
   * Returns the reasoning of a delta without text that was already read. Some vendors, such as this gateway, send
   * reasoning as plain text, and later the whole reasoning in `reasoning_details` with a signature. If there is one
   * such detail, only its signature is new. If there are several, nothing is read: their text was already read as one
   * piece, and none of their signatures is valid for this piece.
   */
  #newReasoning(delta: Record<string, unknown>): ReasoningPart[] {
    const parts = readReasoning(delta);
    if (!Array.isArray(delta["reasoning_details"])) {
      for (const { text } of parts) this.#plainReasoning += text;
      return parts;
    }
    const plain = this.#plainReasoning;
    this.#plainReasoning = "";
    if (plain === "" || parts.map(({ text }) => text).join("") !== plain) return parts;
    const [first, ...others] = parts;
    return first?.text === plain ? [{ ...first, text: "" }, ...others] : [];
  }

  *#end(finish: Finish | null): Generator<ReplyEvent> {
    this.#finish = finish;
    yield* this.#tags.end(finish?.reason !== "stop");
    yield* this.#calls.end();
    if (finish) yield { type: "finish", finish };
  }
}

/** Parses a whole reply like a stream with one chunk. Throws an `UpstreamError` when it is no chat completion. */
export function parseReply(reply: VendorReply): Reply {
  return collectReply(readWhole(parseCompletion(reply)));
}

function* readWhole(body: Record<string, unknown>): Generator<ReplyEvent> {
  const reader = new ChatReplyReader();
  yield* reader.readEvent(body);
  yield* reader.read("[DONE]");
}

/** Fields without a neutral form: speech, function calls in the old form, pictures (OpenRouter API). */
const OTHERS = ["audio", "function_call", "images"];

function hasMembers(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

interface OpenCall {
  id: string;
  /** Kind of the call; null until the call's name has arrived. */
  kind: ToolCall["kind"] | null;
  /** Arguments that arrived before the name. */
  waiting: string;
  hasArguments: boolean;
}

/**
 * Reads the tool calls of a stream. Announces each call once, when its name arrives. Makes an id if the vendor sends
 * none or repeats the id of another call.
 */
class CallDeltas {
  readonly #numbers = new CallNumbers();
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** With `areWhole`, each entry is a separate call, even if another entry has the same id or index. */
  *read(deltas: readonly unknown[], { areWhole }: { areWhole: boolean }): Generator<ReplyEvent> {
    for (const delta of deltas) {
      const part = readCall(delta);
      if (!part || !isObject(delta)) continue;
      const call = areWhole ? this.#calls.length : this.#numbers.of(part, delta["index"]);
      const open = (this.#calls[call] ??= { id: "", kind: null, waiting: "", hasArguments: false });
      yield* this.#add(call, open, part);
    }
  }

  /**
   * Ends all tool calls. A function without parameters may be called without arguments. Empty arguments become an empty
   * object, because other protocols require an object.
   */
  *end(): Generator<ReplyEvent> {
    for (const [call, { kind, hasArguments }] of this.#calls.entries())
      if (kind === "function" && !hasArguments) yield { type: "arguments", call, text: "{}" };
  }

  *#add(call: number, open: OpenCall, part: ToolCall): Generator<ReplyEvent> {
    const { name, kind, signature } = part;
    if (open.id === "" && !this.#ids.has(part.id)) {
      open.id = part.id;
      this.#ids.add(part.id);
    }
    open.waiting += part.arguments;
    if (open.kind === null) {
      if (name === "") return;
      open.kind = kind;
      yield { type: "call", call, id: open.id || newCallId(), name, kind, ...(signature && { signature }) };
    }
    if (open.waiting === "") return;
    open.hasArguments = true;
    yield { type: "arguments", call, text: open.waiting };
    open.waiting = "";
  }
}

/** A piece of text that is either reasoning or text of the reply. */
interface Piece {
  type: "text" | "reasoning";
  text: string;
  isRepeat?: true;
}

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Separates reasoning from text. Some servers leave the reasoning between tags at the very start of the text (MiniMax
 * without `reasoning_split`, servers of open models without a reasoning parser). A tag may be split between chunks. In
 * a reply that was not cut, text without a closing tag is not reasoning. It is sent as text, even if it was already
 * sent as reasoning.
 */
class ThinkTags {
  #state: "start" | "thinking" | "answer" = "start";
  /** White space at the very start of the text. It is kept back until the text after it has been examined. */
  #space = "";
  /** Text that may be the beginning of a tag. It is kept back until more text arrives. */
  #held = "";
  /** All text since the opening tag, until the closing tag arrives. */
  #unclosed = "";

  *read(text: string): Generator<Piece> {
    if (this.#state === "start") this.#begin(text);
    else {
      this.#held += text;
      if (this.#state === "thinking") this.#unclosed += text;
    }
    if (this.#state === "thinking") yield* this.#think();
    if (this.#state === "answer") yield* this.#take("text", this.#held.length);
  }

  /** Ends the text. `isCut` is true when the text ended early, so that the closing tag may be missing. */
  *end(isCut: boolean): Generator<Piece> {
    if (this.#state === "thinking" && !isCut) {
      this.#state = "answer";
      const text = this.#unclosed;
      const hasGoneOut = this.#held.length + OPEN.length < text.length;
      this.#held = this.#unclosed = "";
      yield hasGoneOut ? { type: "text", text, isRepeat: true } : { type: "text", text };
    }
    this.#held = this.#space + this.#held;
    this.#space = "";
    yield* this.#take(this.#state === "thinking" ? "reasoning" : "text", this.#held.length);
  }

  #begin(text: string): void {
    const begun = this.#held + (this.#held === "" ? text.trimStart() : text);
    if (this.#held === "") this.#space += text.slice(0, text.length - begun.length);
    this.#held = begun;
    if (begun.startsWith(OPEN)) {
      this.#state = "thinking";
      this.#unclosed = begun;
      this.#held = begun.slice(OPEN.length).trimStart();
      this.#space = "";
    } else if (!OPEN.startsWith(begun)) {
      this.#state = "answer";
      this.#held = this.#space + begun;
      this.#space = "";
    }
  }

  *#think(): Generator<Piece> {
    const close = this.#held.indexOf(CLOSE);
    if (close < 0) {
      yield* this.#take("reasoning", this.#held.length - tagStartLength(this.#held));
      return;
    }
    this.#unclosed = "";
    yield* this.#take("reasoning", close);
    this.#held = this.#held.slice(CLOSE.length).trimStart();
    this.#state = "answer";
  }

  *#take(type: Piece["type"], length: number): Generator<Piece> {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (text !== "") yield { type, text };
  }
}

/** Returns the length of the text's end that may be the beginning of the closing tag. */
function tagStartLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
