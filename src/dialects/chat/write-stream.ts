import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { Finish, ReplyEvent, ReplyWriter } from "../conversation/reply.ts";
import type { ToolCall } from "../conversation/request.ts";
import { writeError } from "./error.ts";
import { writeFinish } from "./finish-reason.ts";
import { writeDetails } from "./reasoning.ts";
import type { ChatPayload } from "./request.ts";
import { writeCall } from "./tool-calls.ts";
import { writeUsage } from "./usage.ts";
import { replyHead } from "./write-reply.ts";

/**
 * Writes a stream of chunks: the role first, under one id, then the pieces; at the end the reason, one usage chunk
 * without choices, and `[DONE]`.
 */
export class ChatReplyWriter implements ReplyWriter {
  readonly #model: string;
  #head: ReturnType<typeof replyHead> | null = null;
  #finish: Finish = { reason: "stop", stopSequence: null };
  /** Number of the piece of reasoning that is being written. */
  #piece = 0;
  readonly #kinds = new Map<number, ToolCall["kind"]>();

  constructor({ parsed }: ChatPayload) {
    this.#model = parsed.model;
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        return this.#begin(event.id);
      case "text":
        return this.#delta({ content: event.text });
      case "refusal":
        return this.#delta({ refusal: event.text });
      case "reasoning": {
        const details = writeDetails({ text: event.text, signature: null }, this.#piece);
        return this.#delta({ reasoning_content: event.text, reasoning_details: details });
      }
      case "signature": {
        const { signature, isRedacted } = event;
        const details = writeDetails({ text: "", signature, isRedacted }, this.#piece++);
        return this.#delta({ reasoning_details: details });
      }
      case "call":
      case "arguments":
        return this.#delta({ tool_calls: [this.#call(event)] });
      case "finish":
        this.#finish = event.finish;
        return "";
      case "usage":
        return "";
    }
  }

  end(usage: TokenUsage): string {
    const last = this.#chunk({ choices: [choiceOf({}, writeFinish(this.#finish))] });
    const counts = this.#chunk({ choices: [], usage: writeUsage(usage) });
    return `${this.#begin(null)}${last}${counts}data: [DONE]\n\n`;
  }

  fail(error: GatewayError): string {
    return frame(writeError(error));
  }

  #call(event: Extract<ReplyEvent, { type: "call" | "arguments" }>): object {
    const { call: index } = event;
    if (event.type === "call") {
      this.#kinds.set(index, event.kind);
      return { index, ...writeCall({ ...event, type: "tool_call", arguments: "" }) };
    }
    const isCustom = this.#kinds.get(index) === "custom";
    return isCustom
      ? { index, custom: { input: event.text } }
      : { index, function: { arguments: event.text } };
  }

  #delta(delta: object): string {
    return this.#begin(null) + this.#chunk({ choices: [choiceOf(delta, null)] });
  }

  /** The chunk with the role; empty once it has been written. */
  #begin(id: string | null): string {
    if (this.#head) return "";
    this.#head = replyHead(id, "chat.completion.chunk", this.#model);
    return this.#chunk({ choices: [choiceOf({ role: "assistant", content: "" }, null)] });
  }

  #chunk(body: object): string {
    return frame({ ...this.#head, ...body });
  }
}

function choiceOf(delta: object, reason: string | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: reason };
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
