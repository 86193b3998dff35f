import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { writeJson } from "../../lib/json-edit.ts";
import { readArguments } from "../conversation/call-arguments.ts";
import type { Finish, Reply, ReplyEvent, ReplyWriter } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/request.ts";
import { writeError } from "./error.ts";
import { eventText } from "./event-frame.ts";
import { CALL_EXTRAS, messageId, NO_EXTRAS, NOT_STOPPED, writeFinish } from "./content.ts";
import type { MessagesPayload } from "./request.ts";
import { sealThinking } from "./thinking.ts";
import { writeCallId } from "./tools.ts";
import { writeUsage } from "./usage.ts";
import { signatureBlock, type WrittenBlock } from "./write-blocks.ts";

/** Returns the text of a whole message for the caller of this request. */
export function writeReply(reply: Reply, { parsed }: MessagesPayload, usage: TokenUsage): string {
  const hasCalls = reply.parts.some(({ type }) => type === "tool_call");
  return writeJson({
    id: messageId(reply.id),
    type: "message",
    role: "assistant",
    model: parsed.model,
    ...NO_EXTRAS,
    content: reply.parts.flatMap(writePart),
    ...writeFinish(reply.finish, hasCalls),
    usage: writeUsage(usage),
  });
}

function writePart(part: AssistantPart): WrittenBlock[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning": {
      const signature = sealThinking(part.signature);
      return part.isRedacted
        ? [{ type: "redacted_thinking", data: signature }]
        : [{ type: "thinking", thinking: part.text, signature }];
    }
    case "tool_call": {
      // Arguments that were cut at the maximum of tokens cannot be parsed.
      const input = readArguments(part.arguments) ?? {};
      return [
        ...signatureBlock(part),
        { type: "tool_use", id: writeCallId(part.id), name: part.name, input, ...CALL_EXTRAS },
      ];
    }
  }
}

type CallEvent = Extract<ReplyEvent, { type: "call" }>;

/** A tool call that waits for the end of the current block. */
interface WaitingCall {
  event: CallEvent;
  text: string;
}

/**
 * Writes a messages stream, in which only one block is open at a time. Other protocols may send several tool calls in
 * parallel. The first call is sent as it arrives; the other calls wait until the first has ended.
 */
export class MessagesWriter implements ReplyWriter {
  readonly #model: string;
  readonly #estimatedInput: number;
  #hasStarted = false;
  /** The open block: text, thinking, or the number of a tool call. */
  #open: "text" | "thinking" | number | null = null;
  /** True if the open block is thinking that has no signature yet. */
  #isUnsigned = false;
  /** True if the input of the open call begins like an object. Null before its first visible character. */
  #isInputObject: boolean | null = null;
  /** White space that arrived during a call. It is sent before the next text. */
  #space = "";
  #nextIndex = 0;
  #waiting = new Map<number, WaitingCall>();
  #hasCalls = false;
  #finish: Finish = { reason: "stop", stopSequence: null };

  constructor({ parsed }: MessagesPayload) {
    this.#model = parsed.model;
    this.#estimatedInput = parsed.estimatedInput;
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        return this.#start(event.id);
      case "text":
      case "refusal":
        return this.#writeShown(event.text);
      case "reasoning":
        return event.text === ""
          ? ""
          : this.#writeText("thinking", { type: "thinking_delta", thinking: event.text });
      case "signature":
        return this.#writeSignature(event);
      case "call":
        return this.#startCall(event);
      case "arguments":
        return this.#writeArguments(event.call, event.text);
      case "finish":
        this.#finish = event.finish;
        return "";
      // Callers of this protocol cannot request log probabilities.
      case "logprobs":
      case "use":
      case "other":
      case "usage":
        return "";
    }
  }

  end(usage: TokenUsage): string {
    const before = this.#start(null) + this.#endCalls();
    const delta = { ...writeFinish(this.#finish, this.#hasCalls), container: null };
    const ending = eventText({ type: "message_delta", delta, usage: writeUsage(usage) });
    return before + ending + eventText({ type: "message_stop" });
  }

  fail(error: GatewayError): string {
    return eventText({ ...writeError(error), type: "error" });
  }

  /** Begins the message with the estimate of the input tokens, whose number is known only at the end. */
  #start(id: string | null): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    const tokens = { input: this.#estimatedInput, output: 0 };
    const message = {
      id: messageId(id),
      type: "message",
      role: "assistant",
      model: this.#model,
      ...NO_EXTRAS,
      content: [],
      ...NOT_STOPPED,
      usage: writeUsage({ unit: "token", tokens, source: "estimated" }),
    };
    return eventText({ type: "message_start", message });
  }

  /** Writes text. White space between the pieces of a tool call is kept back, so that it does not end the block. */
  #writeShown(text: string): string {
    if (typeof this.#open === "number" && text.trim() === "") {
      this.#space += text;
      return "";
    }
    const shown = this.#space + text;
    this.#space = "";
    return shown === "" ? "" : this.#writeText("text", { type: "text_delta", text: shown });
  }

  #writeText(kind: "text" | "thinking", delta: object): string {
    const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    const opening = this.#open === kind ? "" : this.#endCalls() + this.#startBlock(kind, block);
    return opening + this.#writeDelta(delta);
  }

  #writeSignature({ signature, isRedacted }: Extract<ReplyEvent, { type: "signature" }>): string {
    const sealed = sealThinking(signature);
    if (isRedacted) return this.#endCalls() + this.#writeBlock({ type: "redacted_thinking", data: sealed });
    const signed = this.#writeText("thinking", { type: "signature_delta", signature: sealed });
    this.#isUnsigned = false;
    return signed + this.#endBlock();
  }

  #startCall(event: CallEvent): string {
    this.#hasCalls = true;
    if (typeof this.#open === "number") {
      this.#waiting.set(event.call, { event, text: "" });
      return "";
    }
    return this.#endBlock() + this.#writeCall(event);
  }

  #writeArguments(call: number, text: string): string {
    const waiting = this.#waiting.get(call);
    if (waiting) {
      waiting.text += text;
      return "";
    }
    if (text === "") return "";
    // A text in the middle of the call has ended the call's block. An incomplete call must not look complete.
    if (this.#open !== call) throw new UpstreamError("broken", "arguments of a call that has ended");
    return this.#writeInput(text);
  }

  /** Writes a piece of a call's input. Omits input that is not an object, because clients parse each piece at once. */
  #writeInput(text: string): string {
    if (text.trim() !== "") this.#isInputObject ??= text.trimStart().startsWith("{");
    return this.#isInputObject ? this.#writeDelta({ type: "input_json_delta", partial_json: text }) : "";
  }

  #writeCall(event: CallEvent): string {
    const signed = signatureBlock(event).map((block) => this.#writeBlock(block));
    const { id, name, call } = event;
    const block = { type: "tool_use", id: writeCallId(id), name, input: {}, ...CALL_EXTRAS };
    this.#isInputObject = null;
    return signed.join("") + this.#startBlock(call, block);
  }

  /** Ends the open block and writes the waiting calls. */
  #endCalls(): string {
    let output = this.#endBlock();
    for (const { event, text } of this.#waiting.values()) {
      output += this.#writeCall(event);
      output += this.#writeInput(text);
      output += this.#endBlock();
    }
    this.#waiting.clear();
    return output;
  }

  #startBlock(kind: "text" | "thinking" | number, content_block: object): string {
    this.#open = kind;
    this.#isUnsigned = kind === "thinking";
    const start = this.#start(null);
    return start + eventText({ type: "content_block_start", index: this.#nextIndex, content_block });
  }

  #writeDelta(delta: object): string {
    return eventText({ type: "content_block_delta", index: this.#nextIndex, delta });
  }

  #endBlock(): string {
    if (this.#open === null) return "";
    this.#open = null;
    const seal = this.#isUnsigned
      ? this.#writeDelta({ type: "signature_delta", signature: sealThinking(null) })
      : "";
    this.#isUnsigned = false;
    return seal + eventText({ type: "content_block_stop", index: this.#nextIndex++ });
  }

  /** Writes a block that is complete in its first event. */
  #writeBlock(block: object): string {
    return this.#startBlock("text", block) + this.#endBlock();
  }
}
