import { isCorrected, type TokenUsage, type UsagePolicy, type UsageReport } from "../../domain/usage.ts";
import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { frameData } from "../../lib/sse.ts";
import { observe, SizedText } from "../sized-text.ts";
import type { TextStream } from "../dialect.ts";
import { ChunkEditor } from "./chunk-editor.ts";
import { addContent, isTextDelta } from "./content.ts";
import { correctedUsage } from "./corrected-usage.ts";
import { writeError } from "./error.ts";
import { errorOf, firstChoice, inStreamError, usageOf } from "./event.ts";
import { refuseFailure } from "./finish-reason.ts";
import { frameTemplate, repeatFrames, type FrameTemplate } from "../sse/frame-template.ts";
import { commentsOf } from "../sse/vendor-words.ts";
import { tellsCost, withoutCost } from "../reported-cost.ts";
import { readUsage, showsBilled } from "./usage.ts";
import { parseVendorObject, VendorFrames } from "../sse/vendor-frames.ts";

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Relays a chat stream from an upstream of the same dialect. Frames pass as the bytes they came in, but for what
 * `ChunkEditor` changes; a frame like the one before is not parsed again. A response that came to its end gets one
 * usage chunk, the only one, then `[DONE]`; one that was cut gets neither.
 */
export class ChatStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #editor: ChunkEditor;
  readonly #publicModel: string;
  readonly #policy: UsagePolicy;
  #template: FrameTemplate | null = null;
  #report: UsageReport | null = null;
  /** The vendor's usage chunk, and its usage where that stood elsewhere. */
  #usageFrame: Buffer | null = null;
  #usage: unknown = undefined;
  #created: unknown = null;
  readonly #delivered = new SizedText();
  /** Estimated size of the content up to the last report. */
  #reportedEighths = 0;
  /** Choices by their index: those that have begun and not ended, and those that have ended. */
  readonly #running = new Set<unknown>();
  readonly #ended = new Set<unknown>();

  /** True once the caller would see content: from then on there is no other upstream. */
  hasContent = false;
  /** True once the upstream has sent its end mark; later bytes are not for the caller. */
  isDone = false;

  constructor(publicModel: string, policy: UsagePolicy) {
    this.#editor = new ChunkEditor(publicModel);
    this.#publicModel = publicModel;
    this.#policy = policy;
  }

  /**
   * Takes upstream bytes and returns those for the caller. Throws an `UpstreamError` on an error frame, on what is
   * not this protocol, and at an end mark before any content.
   */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#template === null || !this.#frames.isEmpty || this.isDone) return this.#read(chunk, []);
    const { output, readBytes } = repeatFrames(this.#template, chunk, this.#delivered);
    return readBytes === chunk.length ? output : this.#read(chunk.subarray(readBytes), [output]);
  }

  /**
   * The upstream has ended. Returns the caller's ending; throws an `UpstreamError` when the response was cut. Call
   * it once, after usage has been recorded.
   */
  end(): Uint8Array {
    const output: Buffer[] = [];
    this.#frames.end((frame) => {
      if (!this.isDone) this.#readFrame(frame, output);
    });
    if (!this.#isComplete()) throw new UpstreamError("broken", "the stream was cut");
    const usage = this.usage();
    const usageFrame = this.#isShown(usage) ? this.#usageFrame : null;
    output.push(usageFrame ?? this.#ownUsageFrame(usage), Buffer.from("data: [DONE]\n\n"));
    return Buffer.concat(output);
  }

  /** What is billed for the response so far. */
  usage(): TokenUsage {
    const isReportFinal = this.#isComplete() && this.#reportedEighths === this.#delivered.eighths;
    return this.#policy(observe(this.#report, this.#delivered, isReportFinal));
  }

  /** An event of its own, and no ending after it. */
  errorFrame(error: GatewayError): Uint8Array {
    return Buffer.from(`data: ${JSON.stringify(writeError(error))}\n\n`);
  }

  #isComplete(): boolean {
    return !this.#frames.hasFailed && (this.isDone || (this.#ended.size > 0 && this.#running.size === 0));
  }

  /** Reads a chunk frame by frame; `output` is what goes before. */
  #read(chunk: Uint8Array, output: Uint8Array[]): Uint8Array {
    this.#frames.read(chunk, this.hasContent, (frame) => {
      if (!this.isDone) this.#readFrame(frame, output);
    });
    if (this.#frames.hasFailed) this.isDone = true;
    return output.length === 1 ? (output[0] ?? NOTHING) : Buffer.concat(output);
  }

  #readFrame(frame: Buffer, output: Uint8Array[]): void {
    const data = frameData(frame);
    if (!data) {
      output.push(commentsOf(frame));
      return;
    }
    if (data.startsWith("[DONE]")) {
      if (!this.hasContent) throw new UpstreamError("broken", "a stream without content");
      this.isDone = true;
      return;
    }
    const event = parseVendorObject(data);
    const error = errorOf(event);
    if (error) throw inStreamError(error);
    const { choices } = event;
    if (Array.isArray(choices)) for (const choice of choices) this.#readChoice(choice);
    const isReport = this.#readReport(event);
    if (!Array.isArray(choices)) return;
    this.#created ??= event["created"];
    if (choices.length === 0 && event["usage"]) {
      if (isReport && !tellsCost(event["usage"])) this.#usageFrame = this.#editor.edit(frame, event).frame;
      return;
    }
    const { frame: written, isUnique } = this.#editor.edit(frame, event);
    output.push(written);
    this.#template = !isUnique && isPlain(event) ? frameTemplate(frame, written) : null;
  }

  #readChoice(choice: unknown): void {
    // Clients read it without a check.
    if (!isObject(choice)) throw new UpstreamError("broken", "a choice is not an object");
    const { index = 0 } = choice;
    if (typeof choice["finish_reason"] === "string") {
      refuseFailure(choice["finish_reason"]);
      this.hasContent = true;
      this.#ended.add(index);
      this.#running.delete(index);
    } else if (!this.#ended.has(index)) this.#running.add(index);
    const { eighths } = this.#delivered;
    if (isObject(choice["delta"])) addContent(this.#delivered, choice["delta"]);
    if (this.#delivered.eighths > eighths) this.hasContent = true;
  }

  /** Keeps the frame's usage report, unless it has nothing usable and an earlier one has. Returns whether it did. */
  #readReport(event: Record<string, unknown>): boolean {
    const usage = usageOf(event);
    const report = readUsage(usage);
    if (!report || (this.#report && !report.hasInput && !report.hasOutput)) return false;
    this.#report = report;
    this.#usage = usage;
    this.#usageFrame = null;
    this.#reportedEighths = this.#delivered.eighths;
    return true;
  }

  /** Whether the vendor's own usage tells what is billed. */
  #isShown(billed: TokenUsage): boolean {
    return !isCorrected(billed) && showsBilled(this.#usage, billed);
  }

  /** A usage chunk of the vendor's numbers where it sent them elsewhere, and of the billed ones where those differ. */
  #ownUsageFrame(billed: TokenUsage): Buffer {
    const text = this.#usage === undefined ? undefined : JSON.stringify(this.#usage);
    const usage =
      text !== undefined && this.#isShown(billed) ? withoutCost(text) : correctedUsage(text, billed);
    const known = JSON.stringify({
      id: this.#editor.idOrNew(),
      object: "chat.completion.chunk",
      created: this.#created ?? Math.floor(Date.now() / 1000),
      model: this.#publicModel,
      choices: [],
    });
    return Buffer.from(`data: ${known.slice(0, -1)},"usage":${usage}}\n\n`);
  }
}

/** Whether a chunk holds a piece of text and nothing that has to be remembered. */
function isPlain(event: Record<string, unknown>): boolean {
  const { choices } = event;
  const choice = Array.isArray(choices) && choices.length === 1 ? firstChoice(choices) : undefined;
  if (!choice || event["usage"] || event["x_groq"] || choice["usage"] || choice["finish_reason"])
    return false;
  return isObject(choice["delta"]) && isTextDelta(choice["delta"]);
}
