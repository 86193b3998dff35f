import { UpstreamError } from "../../../domain/upstream-error.ts";
import { parseExactly } from "../../../lib/exact-json.ts";
import { isObject } from "../../../lib/json.ts";
import {
  collectReply,
  type FinishReason,
  type Reply,
  type ReplyEvent,
  type ReplyReader,
} from "../../conversation/reply.ts";
import type { Signature } from "../../conversation/signature.ts";
import type { VendorReply } from "../../dialect.ts";
import { blockReasonOf, candidatesOf, finishReasonOf, partsOf } from "./content.ts";
import { parseEvent } from "./events.ts";
import { PartialCall } from "./partial-call.ts";
import { readSignature } from "./signature.ts";
import { readUsage } from "./usage.ts";
import { ownValue } from "../../../lib/own-value.ts";

/** Parses a whole reply, which has the form of one event. Throws an `UpstreamError` for what is none. */
export function parseReply({ text }: VendorReply): Reply {
  const reader = new NativeReader();
  const reply = collectReply([...reader.read(text)]);
  if (!reader.isComplete) throw new UpstreamError("broken", "the response has no candidate that ended");
  return reply;
}

/**
 * Reads the first candidate of a stream, event by event. There is no end mark; a reason to end may come in a later
 * event than the call it is about, and is `STOP` for calls too.
 */
export class NativeReader implements ReplyReader {
  readonly isDone = false;
  isComplete = false;
  #hasStarted = false;
  #calls = 0;
  #partial: PartialCall | null = null;

  *read(data: string): Generator<ReplyEvent, void> {
    const event = parseEvent(data, data.includes('"functionCall"') ? parseExactly : undefined);
    const { responseId, usageMetadata } = event;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      yield { type: "start", id: typeof responseId === "string" ? responseId : null };
    }
    const candidate = candidatesOf(event).find(({ index = 0 }) => index === 0);
    for (const part of candidate ? partsOf(candidate) : []) yield* this.#readPart(part);
    const ended = candidate && finishReasonOf(candidate);
    if (ended) yield this.#finish(finishOf(ended, this.#calls > 0));
    else if (!candidate && blockReasonOf(event) !== null) yield this.#finish("refused");
    const report = readUsage(usageMetadata);
    if (report) yield { type: "usage", report };
  }

  #finish(reason: FinishReason): ReplyEvent {
    this.isComplete = true;
    return { type: "finish", finish: { reason, stopSequence: null } };
  }

  *#readPart(part: Record<string, unknown>): Generator<ReplyEvent, void> {
    const { text, thought, thoughtSignature, functionCall } = part;
    const signed = readSignature(thoughtSignature);
    if (isObject(functionCall)) return yield* this.#readCall(functionCall, signed?.signature);
    if (typeof text !== "string") return;
    if (thought !== true) {
      if (text !== "") yield { type: "text", text };
      return;
    }
    if (text !== "") yield { type: "reasoning", text };
    if (signed) yield { type: "signature", ...signed };
  }

  /** A call mostly comes whole; one in pieces is told once it is whole. */
  *#readCall(
    { id, name, args, partialArgs, willContinue }: Record<string, unknown>,
    signature: Signature | undefined,
  ): Generator<ReplyEvent, void> {
    if (typeof name === "string" && name !== "") {
      const call = this.#calls++;
      const callId = typeof id === "string" && id !== "" ? id : `call_${call}`;
      yield { type: "call", call, id: callId, name, kind: "function", ...(signature && { signature }) };
      if (willContinue !== true) {
        yield { type: "arguments", call, text: JSON.stringify(isObject(args) ? args : {}) };
        return;
      }
      this.#partial = new PartialCall(call);
    }
    this.#partial?.add(partialArgs);
    if (!this.#partial || willContinue === true) return;
    yield { type: "arguments", call: this.#partial.call, text: JSON.stringify(this.#partial.args) };
    this.#partial = null;
  }
}

const FINISHES: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "refused",
  RECITATION: "refused",
  LANGUAGE: "refused",
  BLOCKLIST: "refused",
  PROHIBITED_CONTENT: "refused",
  SPII: "refused",
  IMAGE_SAFETY: "refused",
  IMAGE_PROHIBITED_CONTENT: "refused",
  IMAGE_RECITATION: "refused",
};

/** Throws where the model failed, which another attempt may mend (Gemini API reference, `FinishReason`). */
function finishOf(reason: string, hasCalls: boolean): FinishReason {
  const found = ownValue(FINISHES, reason);
  if (found === undefined) {
    const named = reason.replace(/\W/g, "?").slice(0, 40);
    throw new UpstreamError("broken", `the model ended with ${named}`, { isByRequest: true });
  }
  return found === "stop" && hasCalls ? "tool_calls" : found;
}
