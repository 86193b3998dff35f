import type { GatewayError } from "../../../domain/gateway-error.ts";
import type { TokenUsage } from "../../../domain/usage.ts";
import { writeJson } from "../../../lib/json-edit.ts";
import { readArguments } from "../../conversation/call-arguments.ts";
import type { Finish, FinishReason, Reply, ReplyEvent, ReplyWriter } from "../../conversation/reply.ts";
import type { AssistantPart, ToolCall } from "../../conversation/request.ts";
import { writeError } from "../error.ts";
import type { NativePayload } from "./request.ts";
import { writeSignature } from "./read-parts.ts";
import { writeUsage } from "./usage.ts";

/** Returns the text of a whole reply (Gemini API reference, `GenerateContentResponse`). */
export function writeReply(reply: Reply, { parsed }: NativePayload, usage: TokenUsage): string {
  const { parts, isWhole } = writeParts(reply.parts);
  const finishReason = finishReasonOf(reply.finish, isWhole);
  return writeJson({
    candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
    usageMetadata: writeUsage(usage),
    modelVersion: parsed.model,
    responseId: reply.id ?? newResponseId(),
  });
}

/**
 * Writes a stream. Each event has the form of a whole reply and contains some of its parts. A tool call is written when
 * it is complete: before the next piece of another type, or at the end.
 */
export class NativeWriter implements ReplyWriter {
  readonly #model: string;
  #id = newResponseId();
  /** Tool calls that are not written yet, by number. */
  readonly #calls = new Map<number, ToolCall>();
  #finish: Finish = { reason: "stop", stopSequence: null };
  #isWhole = true;
  #hasWritten = false;

  constructor({ parsed }: NativePayload) {
    this.#model = parsed.model;
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        this.#id = event.id ?? this.#id;
        return "";
      case "text":
      case "refusal":
        return event.text === "" ? "" : this.#chunk([...this.#pending(), { text: event.text }]);
      case "reasoning":
        return event.text === ""
          ? ""
          : this.#chunk([...this.#pending(), { text: event.text, thought: true }]);
      case "signature": {
        const thoughtSignature = writeSignature(event);
        return this.#chunk([...this.#pending(), { text: "", thought: true, thoughtSignature }]);
      }
      case "call": {
        const { type: _, call, ...named } = event;
        this.#calls.set(call, { type: "tool_call", ...named, arguments: "" });
        return "";
      }
      case "arguments": {
        const call = this.#calls.get(event.call);
        if (call) call.arguments += event.text;
        return "";
      }
      case "finish":
        this.#finish = event.finish;
        return "";
      // A request of this protocol for log probabilities is never translated.
      case "logprobs":
      case "use":
      case "other":
      case "usage":
        return "";
    }
  }

  end(usage: TokenUsage): string {
    const pending = this.#pending();
    const parts = pending.length > 0 ? pending : [{ text: "" }];
    return this.#frame({
      candidates: [
        {
          content: { role: "model", parts },
          finishReason: finishReasonOf(this.#finish, this.#isWhole),
          index: 0,
        },
      ],
      usageMetadata: writeUsage(usage),
    });
  }

  /**
   * Returns the error as an event. Before the first event, returns a bare object, because Google's clients would ignore
   * an error event there. Google's servers do the same.
   */
  fail(error: GatewayError): string {
    const text = JSON.stringify(writeError(error));
    return this.#hasWritten ? `data: ${text}\n\n` : text;
  }

  #pending(): object[] {
    if (this.#calls.size === 0) return [];
    const { parts, isWhole } = writeParts([...this.#calls.values()]);
    this.#calls.clear();
    this.#isWhole &&= isWhole;
    return parts;
  }

  #chunk(parts: object[]): string {
    return this.#frame({ candidates: [{ content: { role: "model", parts }, index: 0 }] });
  }

  #frame(body: object): string {
    this.#hasWritten = true;
    return `data: ${writeJson({ ...body, modelVersion: this.#model, responseId: this.#id })}\n\n`;
  }
}

function newResponseId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES))).toString("base64url");
}

const ID_BYTES = 16;

/** Writes parts. Omits a tool call with invalid arguments; then `isWhole` is false. */
function writeParts(parts: readonly AssistantPart[]): { parts: object[]; isWhole: boolean } {
  let isWhole = true;
  const written = parts.flatMap((part): object[] => {
    if (part.type === "reasoning") {
      const { text, signature, isRedacted } = part;
      const thoughtSignature = signature && writeSignature({ signature, isRedacted });
      return [{ text, thought: true, ...(thoughtSignature && { thoughtSignature }) }];
    }
    if (part.type !== "tool_call") return [{ text: part.text }];
    const args = part.kind === "custom" ? { input: part.arguments } : readArguments(part.arguments);
    if (args === null) {
      isWhole = false;
      return [];
    }
    const { id, name, signature } = part;
    return [
      {
        functionCall: { id, name, args },
        ...(signature && { thoughtSignature: writeSignature({ signature }) }),
      },
    ];
  });
  return { parts: written, isWhole };
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  refused: "SAFETY",
};

/** Returns the finish reason. An incomplete tool call has its own reason if the maximum of tokens was not reached. */
function finishReasonOf({ reason }: Finish, isWhole: boolean): string {
  return isWhole || reason === "length" ? FINISH_REASONS[reason] : "MALFORMED_FUNCTION_CALL";
}
