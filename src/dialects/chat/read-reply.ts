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

/** Reads a vendor's chunks. The reply is complete with a `finish_reason` or `[DONE]`, whichever the vendor sends. */
export class ChatReplyReader implements ReplyReader {
  readonly #calls = new CallDeltas();
  readonly #tags = new ThinkTags();
  #hasStarted = false;
  #finish: Finish | null = null;
  /** Reasoning that came as text alone, since the last that came as a whole. */
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

  /** Reads a chunk, or a whole reply, which differs in having `message` for `delta`. */
  *readEvent(event: Record<string, unknown>): Generator<ReplyEvent> {
    const error = errorOf(event);
    if (error) throw inStreamError(error);
    const { id, choices } = event;
    if (!this.#hasStarted && Array.isArray(choices) && choices.length > 0) {
      this.#hasStarted = true;
      yield { type: "start", id: typeof id === "string" && id !== "" ? id : null };
    }
    // Callers of other protocols ask for one choice only.
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
   * Reasoning that came as text may come again as a whole, with its signatures, as this gateway writes it. Then several
   * pieces were joined to one, whose signature differs from theirs.
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

/**
 * Parses a vendor's whole reply, which is read as the only chunk of a stream. Throws an `UpstreamError` when it is no
 * chat completion.
 */
export function parseReply(reply: VendorReply): Reply {
  return collectReply(readWhole(parseCompletion(reply)));
}

function* readWhole(body: Record<string, unknown>): Generator<ReplyEvent> {
  const reader = new ChatReplyReader();
  yield* reader.readEvent(body);
  yield* reader.read("[DONE]");
}

interface OpenCall {
  id: string;
  /** The call as it was announced, which happens once its name is known. */
  kind: ToolCall["kind"] | null;
  /** Arguments that came before the name. */
  waiting: string;
  hasArguments: boolean;
}

/**
 * Reads the calls of a stream. Each is announced once, with its name; an id is made where the vendor gives none, or one
 * that another call has.
 */
class CallDeltas {
  readonly #numbers = new CallNumbers();
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** `areWhole`: each entry is a separate call, even with an id or index that another has. */
  *read(deltas: readonly unknown[], { areWhole }: { areWhole: boolean }): Generator<ReplyEvent> {
    for (const delta of deltas) {
      const part = readCall(delta);
      if (!part || !isObject(delta)) continue;
      const call = areWhole ? this.#calls.length : this.#numbers.of(part, delta["index"]);
      const open = (this.#calls[call] ??= { id: "", kind: null, waiting: "", hasArguments: false });
      yield* this.#add(call, open, part);
    }
  }

  /** A function without parameters may have been called without arguments; other protocols want an object. */
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

/** A piece of text, and whether it is reasoning. */
interface Piece {
  type: "text" | "reasoning";
  text: string;
  isRepeat?: true;
}

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Takes reasoning out of text where a server leaves it there, between tags at the very start (MiniMax without
 * `reasoning_split`, servers of open models without a reasoning parser). The tags may be cut anywhere. A tag that never
 * closes was text: where it has gone out as reasoning piece by piece, it follows as text too, so that no answer is lost.
 */
class ThinkTags {
  #state: "start" | "thinking" | "answer" = "start";
  /** White space at the very start, held until the text after it is examined. */
  #space = "";
  /** Text that may be the start of a tag. */
  #held = "";
  /** Everything since the opening tag, until the closing one. */
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

  /** The text has ended; `isCut` when that says nothing about the closing tag. */
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

/** Returns the number of characters at the end that may be the start of the closing tag. */
function tagStartLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
