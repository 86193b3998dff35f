import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import type { TextStream } from "../dialect.ts";
import { tellsCost, withoutCost } from "../usage-reading.ts";
import { ForwardedStream, type FrameForwarder } from "../sse/forwarded-stream.ts";
import { frameTemplate, type FrameTemplate } from "../sse/frame-template.ts";
import { commentsOf, parseVendorObject } from "../sse/vendor-frames.ts";
import { ChatReplyReader } from "./read-reply.ts";
import { StreamMeter } from "../stream-meter.ts";
import { ChunkEditor } from "./chunk-editor.ts";
import { addContent, isTextDelta } from "./content.ts";
import { correctedUsage, readUsage, showsBilled } from "./usage.ts";
import { writeError } from "./error.ts";
import { errorOf, firstChoice, inStreamError, usageOf, refuseFailure } from "./event.ts";
import { systemClock } from "../../lib/clock.ts";

const TEXT_NAMES = /"(?:content|reasoning_content|reasoning|refusal)"\s*:\s*"/g;

/**
 * Returns a chat stream of an upstream with the same dialect. A `ChunkEditor` edits the chunks. A complete reply ends
 * with one usage chunk and `[DONE]`. No other chunk contains usage.
 */
export function openStream(publicModel: string, policy: UsagePolicy): TextStream {
  const meter = new StreamMeter(policy);
  return new ForwardedStream(new ChatForwarder(publicModel, meter), meter, () => new ChatReplyReader());
}

class ChatForwarder implements FrameForwarder {
  readonly #publicModel: string;
  readonly #meter: StreamMeter;
  readonly #editor: ChunkEditor;
  /** The vendor's usage chunk, if this chunk can be forwarded; otherwise null. */
  #usageFrame: Buffer | null = null;
  #usage: unknown = undefined;
  #created: unknown = null;

  isDone = false;

  constructor(publicModel: string, meter: StreamMeter) {
    this.#publicModel = publicModel;
    this.#meter = meter;
    this.#editor = new ChunkEditor(publicModel);
  }

  get isComplete(): boolean {
    return this.isDone || this.#meter.haveChoicesEnded;
  }

  forward(frame: Buffer, data: string, output: Uint8Array[]): FrameTemplate | null {
    if (data.startsWith("[DONE]")) {
      this.isDone = true;
      return null;
    }
    const event = parseVendorObject(data);
    const error = errorOf(event);
    if (error) throw inStreamError(error);
    const { choices } = event;
    if (Array.isArray(choices)) for (const choice of choices) this.#readChoice(choice);
    const isReport = this.#readReport(event);
    if (!Array.isArray(choices)) return null;
    this.#created ??= event["created"];
    if (choices.length === 0 && event["usage"]) {
      if (isReport && !tellsCost(event["usage"])) this.#usageFrame = this.#editor.edit(frame, event).frame;
      return null;
    }
    const { frame: written, isUnique } = this.#editor.edit(frame, event);
    output.push(written);
    return !isUnique && isPlain(event) ? frameTemplate(frame, written, TEXT_NAMES) : null;
  }

  forwardComment(frame: Buffer, output: Uint8Array[]): void {
    output.push(commentsOf(frame));
  }

  end(): Uint8Array[] {
    const usage = this.#meter.usage(true);
    const usageFrame = this.#isShown(usage) ? this.#usageFrame : null;
    return [usageFrame ?? this.#ownUsageFrame(usage), Buffer.from("data: [DONE]\n\n")];
  }

  /** Returns a frame with the error, which is the last frame of the stream. */
  errorFrame(error: GatewayError): Uint8Array {
    return Buffer.from(`data: ${JSON.stringify(writeError(error))}\n\n`);
  }

  #readChoice(choice: unknown): void {
    // Clients read the fields of each choice without checking that the choice is an object.
    if (!isObject(choice)) throw new UpstreamError("broken", "a choice is not an object");
    const { index = 0 } = choice;
    refuseFailure(choice["finish_reason"]);
    this.#meter.noteChoice(index, typeof choice["finish_reason"] === "string");
    if (isObject(choice["delta"])) addContent(this.#meter.pieces, choice["delta"]);
  }

  /** Reads the usage of a chunk. Returns true if this usage replaces the previous usage. */
  #readReport(event: Record<string, unknown>): boolean {
    const usage = usageOf(event);
    if (!this.#meter.report(readUsage(usage))) return false;
    this.#usage = usage;
    this.#usageFrame = null;
    return true;
  }

  /** Returns true when the vendor's own usage contains the billed numbers. */
  #isShown(billed: TokenUsage): boolean {
    return !isCorrected(billed) && showsBilled(this.#usage, billed);
  }

  /** Returns a usage chunk with the vendor's usage, corrected to the billed numbers. */
  #ownUsageFrame(billed: TokenUsage): Buffer {
    const text = this.#usage === undefined ? undefined : JSON.stringify(this.#usage);
    const usage =
      text !== undefined && this.#isShown(billed) ? withoutCost(text) : correctedUsage(text, billed);
    const known = JSON.stringify({
      id: this.#editor.idOrNew(),
      object: "chat.completion.chunk",
      created: this.#created ?? Math.floor(systemClock.now() / 1000),
      model: this.#publicModel,
      choices: [],
    });
    return Buffer.from(`data: ${known.slice(0, -1)},"usage":${usage}}\n\n`);
  }
}

/** Returns true for a chunk that contains only a piece of text. Its other fields do not matter for later chunks. */
function isPlain(event: Record<string, unknown>): boolean {
  const { choices } = event;
  const choice = Array.isArray(choices) && choices.length === 1 ? firstChoice(choices) : undefined;
  if (!choice || event["usage"] || event["x_groq"] || choice["usage"] || choice["finish_reason"])
    return false;
  return isObject(choice["delta"]) && isTextDelta(choice["delta"]);
}
