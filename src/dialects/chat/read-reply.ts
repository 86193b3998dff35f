import { isObject } from "../../lib/json.ts";
import type { Finish, ReplyEvent, ReplyReader } from "../conversation/reply.ts";
import type { ReasoningPart } from "../conversation/request.ts";
import { CallDeltas } from "./call-deltas.ts";
import { contentText } from "./content-text.ts";
import { errorOf, firstChoice, inStreamError, usageOf } from "./event.ts";
import { readFinish } from "./finish-reason.ts";
import { readReasoning } from "./reasoning.ts";
import { ThinkTags } from "./think-tags.ts";
import { readUsage } from "./usage.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";

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
    // A caller of another protocol has asked for one choice.
    const choice = firstChoice(choices);
    if (choice) yield* this.#readChoice(choice);
    const report = readUsage(usageOf(event));
    if (report) yield { type: "usage", report };
  }

  *#readChoice({ delta, message, finish_reason: reason }: Record<string, unknown>): Generator<ReplyEvent> {
    const news = delta ?? message;
    if (isObject(news)) yield* this.#readDelta(news, { isWhole: delta === undefined });
    const finish = readFinish(reason, this.#calls.hasCalls);
    if (finish && !this.#finish) yield* this.#end(finish);
  }

  *#readDelta(delta: Record<string, unknown>, { isWhole }: { isWhole: boolean }): Generator<ReplyEvent> {
    const { content, refusal, tool_calls: calls } = delta;
    for (const { text, signature, isRedacted } of this.#newReasoning(delta)) {
      if (text !== "") yield { type: "reasoning", text };
      if (signature) yield { type: "signature", signature, ...(isRedacted && { isRedacted }) };
    }
    const text = contentText(content);
    if (text !== "") yield* this.#tags.read(text);
    if (typeof refusal === "string" && refusal !== "") yield { type: "refusal", text: refusal };
    if (!Array.isArray(calls) || calls.length === 0) return;
    yield* this.#tags.end();
    yield* this.#calls.read(calls, { areWhole: isWhole });
  }

  /**
   * Reasoning that came as text may come again as a whole, with its signatures, as this gateway writes it. Several
   * pieces have become one by then, whose signature none of theirs is.
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
    yield* this.#tags.end();
    yield* this.#calls.end();
    if (finish) yield { type: "finish", finish };
  }
}
