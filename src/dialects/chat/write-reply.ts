import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { Finish, Reply, ReplyEvent, ReplyWriter } from "../conversation/reply.ts";
import type { TokenLogprob } from "../conversation/logprobs.ts";
import type { AssistantPart, ReasoningPart, ToolCall } from "../conversation/request.ts";
import { writeError } from "./error.ts";
import { writeFinish } from "./event.ts";
import { writeDetails } from "./reasoning.ts";
import type { ChatPayload } from "./request.ts";
import { newReplyId } from "./required-fields.ts";
import { writeCall } from "./content.ts";
import { writeUsage } from "./usage.ts";
import { systemClock } from "../../lib/clock.ts";

/** Writes a whole reply as a chat completion with the model's public name and the billed usage. */
export function writeReply(reply: Reply, { parsed }: ChatPayload, usage: TokenUsage): string {
  const choice = {
    index: 0,
    message: writeMessage(reply.parts),
    logprobs: writeLogprobs(reply.logprobs ?? []),
    finish_reason: writeFinish(reply.finish),
  };
  return JSON.stringify({
    ...replyHead(reply.id, "chat.completion", parsed.model),
    choices: [choice],
    usage: writeUsage(usage),
  });
}

/** Returns the first fields of a reply or chunk. Replaces an id of another protocol by a new id of chat. */
function replyHead(id: string | null, object: "chat.completion" | "chat.completion.chunk", model: string) {
  return {
    id: id?.startsWith("chatcmpl-") ? id : newReplyId(),
    object,
    created: Math.floor(systemClock.now() / 1000),
    model,
  };
}

function writeMessage(parts: readonly AssistantPart[]): object {
  const text = textOf(parts, "text");
  const refusal = textOf(parts, "refusal");
  const reasoning = textOf(parts, "reasoning");
  const details = parts.filter((part) => part.type === "reasoning").flatMap(writeDetails);
  const calls = parts.filter((part) => part.type === "tool_call").map(writeCall);
  return {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function textOf(parts: readonly AssistantPart[], type: "text" | "refusal" | "reasoning"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

/**
 * Writes a stream of chunks: the role, the pieces of the reply, the finish reason, one usage chunk without choices, and
 * `[DONE]`. All chunks have the same id. A client of Mistral gets the usage in its last chunk with a choice. When the
 * reasoning has ended, it is sent again as a whole, in the form that a client must send back. This is needed because
 * OpenAI's clients keep only the last value of an unknown field (openai 6, `ChatCompletionStream`).
 */
export class ChatReplyWriter implements ReplyWriter {
  readonly #model: string;
  #head: ReturnType<typeof replyHead> | null = null;
  #finish: Finish = { reason: "stop", stopSequence: null };
  /** Pieces of reasoning that are not yet sent as a whole. */
  #reasoning: ReasoningPart[] = [];
  /** Number of pieces of reasoning that were sent as a whole. */
  #pieces = 0;
  readonly #kinds = new Map<number, ToolCall["kind"]>();
  /** Log probabilities of the next text. */
  #logprobs: readonly TokenLogprob[] = [];
  readonly #isForMistral: boolean;
  /** Tool calls by number, only for clients of Mistral, which get whole calls. */
  readonly #calls = new Map<number, ToolCall>();

  constructor({ parsed }: ChatPayload) {
    this.#model = parsed.model;
    this.#isForMistral = parsed.isMistralClient;
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        return this.#begin(event.id);
      case "text":
        return this.#endReasoning() + this.#text(event.text);
      case "logprobs":
        this.#logprobs = [...this.#logprobs, ...event.tokens];
        return "";
      case "refusal":
        return this.#endReasoning() + this.#delta({ refusal: event.text });
      case "reasoning":
        this.#openReasoning().text += event.text;
        return this.#delta({ reasoning_content: event.text });
      case "signature":
        if (event.isRedacted) this.#reasoning.push({ ...event, type: "reasoning", text: "" });
        else this.#openReasoning().signature = event.signature;
        return "";
      case "call":
      case "arguments":
        if (this.#isForMistral) return this.#keepCall(event);
        return this.#endReasoning() + this.#delta({ tool_calls: [this.#call(event)] });
      case "finish":
        this.#finish = event.finish;
        return "";
      case "use":
      case "other":
      case "usage":
        return "";
    }
  }

  end(usage: TokenUsage): string {
    const start = this.#begin(null) + this.#endReasoning();
    const choices = [choiceOf({}, writeFinish(this.#finish))];
    if (this.#isForMistral)
      return `${start}${this.#wholeCalls()}${this.#chunk({ choices, usage: writeUsage(usage) })}data: [DONE]\n\n`;
    const last = this.#chunk({ choices });
    const counts = this.#chunk({ choices: [], usage: writeUsage(usage) });
    return `${start}${last}${counts}data: [DONE]\n\n`;
  }

  fail(error: GatewayError): string {
    return frame(writeError(error));
  }

  /** Returns the last piece of reasoning if it has no signature yet. Otherwise begins a new piece. */
  #openReasoning(): ReasoningPart {
    const last = this.#reasoning.at(-1);
    if (last && !last.signature) return last;
    const piece: ReasoningPart = { type: "reasoning", text: "", signature: null };
    this.#reasoning.push(piece);
    return piece;
  }

  #endReasoning(): string {
    if (this.#reasoning.length === 0) return "";
    const details = this.#reasoning.flatMap((piece, index) => writeDetails(piece, this.#pieces + index));
    this.#pieces += this.#reasoning.length;
    this.#reasoning = [];
    return details.length > 0 ? this.#delta({ reasoning_details: details }) : "";
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

  #keepCall(event: Extract<ReplyEvent, { type: "call" | "arguments" }>): string {
    if (event.type === "call") this.#calls.set(event.call, { ...event, type: "tool_call", arguments: "" });
    const call = this.#calls.get(event.call);
    if (call && event.type === "arguments") call.arguments += event.text;
    return "";
  }

  /** Returns a chunk with the whole calls. Mistral sends whole calls with names (Mistral API, `CompletionChunk`). */
  #wholeCalls(): string {
    if (this.#calls.size === 0) return "";
    const calls = [...this.#calls].map(([index, call]) => Object.assign({ index }, writeCall(call)));
    return this.#delta({ tool_calls: calls });
  }

  #text(content: string): string {
    const logprobs = writeLogprobs(this.#logprobs);
    this.#logprobs = [];
    return this.#begin(null) + this.#chunk({ choices: [{ ...choiceOf({ content }, null), logprobs }] });
  }

  #delta(delta: object): string {
    return this.#begin(null) + this.#chunk({ choices: [choiceOf(delta, null)] });
  }

  /** Returns the chunk with the role; an empty text if this chunk was already written. */
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

function writeLogprobs(content: readonly TokenLogprob[]): object | null {
  return content.length === 0 ? null : { content, refusal: null };
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
