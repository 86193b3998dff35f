import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy, type UsageReport } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { frameData } from "../../lib/sse.ts";
import { frameTemplate, repeatFrames, type FrameTemplate } from "../sse/frame-template.ts";
import { commentsOf, neutralFrame, vendorFields, withoutFields } from "../sse/vendor-words.ts";
import type { TextStream } from "../dialect.ts";
import { observe, SizedText } from "../sized-text.ts";
import { addBlock, addDelta, checkBegun } from "./content.ts";
import { correctedUsage } from "./corrected-usage.ts";
import { writeError } from "./error.ts";
import { editEvent, eventFrame, namedFrame } from "./event-frame.ts";
import { NOT_STOPPED } from "./reply-parts.ts";
import { mergeUsage, mergeUsageAsClients, readUsage, showsBilled, writeUsage } from "./usage.ts";
import { reportedFailure } from "./vendor-failure.ts";
import { parseVendorObject, VendorFrames } from "../sse/vendor-frames.ts";

/** Names of streamed text. */
const TEXT_NAMES = /"(?:text|thinking|partial_json)"\s*:\s*"/g;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Relays a messages stream from an upstream of the same dialect. Events and blocks of every kind pass as the bytes
 * they came in, but for the model name, the vendor's name, and usage that is not what is billed; a frame like the one
 * before is not parsed again. The ending goes out once the upstream has sent all of it.
 */
export class MessagesStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #publicModel: string;
  readonly #policy: UsagePolicy;
  #template: FrameTemplate | null = null;
  /** What the vendor has reported so far. */
  #reported: Record<string, unknown> = {};
  /** The usage that a client has of the frames that were sent. */
  #shown: Record<string, unknown> = {};
  #report: UsageReport | null = null;
  readonly #delivered = new SizedText();
  /** Estimated size of the content up to the last report. */
  #reportedEighths = 0;
  /** Frames that end the message, unless content follows them. */
  #ending: EndingFrame[] = [];
  /** The last `delta` that told why the message ended. */
  #stopped: Record<string, unknown> | null = null;
  #hasStop = false;

  hasContent = false;
  isDone = false;

  constructor(publicModel: string, policy: UsagePolicy) {
    this.#publicModel = JSON.stringify(publicModel);
    this.#policy = policy;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#template === null || !this.#frames.isEmpty || this.isDone) return this.#read(chunk, []);
    const { output, readBytes } = repeatFrames(this.#template, chunk, this.#delivered);
    return readBytes === chunk.length ? output : this.#read(chunk.subarray(readBytes), [output]);
  }

  end(): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.end((frame) => {
      if (!this.isDone) this.#readFrame(frame, output);
    });
    if (!this.#isComplete()) throw new UpstreamError("broken", "the stream was cut");
    if (!this.#isTold()) output.push(this.#ownDelta());
    this.#writeEnding(output);
    if (!this.#hasStop) output.push(eventFrame({ type: "message_stop" }));
    return Buffer.concat(output);
  }

  usage(): TokenUsage {
    return this.#billed(this.#isComplete());
  }

  errorFrame(error: GatewayError): Uint8Array {
    return eventFrame({ ...writeError(error), type: "error" });
  }

  #isComplete(): boolean {
    return !this.#frames.hasFailed && (this.#hasStop || this.#stopped !== null);
  }

  #billed(isComplete: boolean): TokenUsage {
    const isFinal = isComplete && this.#reportedEighths === this.#delivered.eighths;
    return this.#policy(observe(this.#report, this.#delivered, isFinal));
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
    this.#template = null;
    const data = frameData(frame);
    if (!data) return this.#pass(commentsOf(frame), output);
    // Relays add the end mark of chat completions.
    if (data.startsWith("[DONE]")) return;
    const event = parseVendorObject(data);
    const written = namedFrame(neutralFrame(frame), event["type"]);
    switch (event["type"]) {
      case "message_start":
        output.push(this.#start(written, event));
        return;
      case "message_delta":
        return this.#stop(written, event);
      case "message_stop":
        return this.#finish(written);
      case "ping":
        return this.#pass(written, output);
      case "content_block_start":
        this.#addBlock(event["content_block"]);
        break;
      case "content_block_delta":
        if (this.#addDelta(event["delta"])) this.#template = frameTemplate(frame, written, TEXT_NAMES);
        break;
      default:
        if (event["error"]) throw reportedFailure(event["error"]);
    }
    this.#writeEnding(output);
    output.push(written);
  }

  /** A frame without content keeps its position behind the ending's. */
  #pass(frame: Buffer, output: Uint8Array[]): void {
    if (this.#ending.length > 0) this.#ending.push({ frame, usage: null });
    else output.push(frame);
  }

  #start(frame: Buffer, { message }: Record<string, unknown>): Buffer {
    if (!isObject(message)) throw new UpstreamError("broken", "a stream that begins without a message");
    if (message["usage"]) this.#addReport(message["usage"]);
    const usage = this.#billed(false);
    if (isCorrected(usage)) this.#shown = { ...writeUsage(usage) };
    else if (isObject(message["usage"])) this.#shown = message["usage"];
    const fields = vendorFields(message);
    return editEvent(frame, "message", (text = "{}") =>
      editMembers(withoutFields(text, fields), {
        model: (old) => (old === undefined ? undefined : this.#publicModel),
        ...(isCorrected(usage) && { usage: (old) => correctedUsage(old, usage) }),
      }),
    );
  }

  #stop(frame: Buffer, { delta, usage }: Record<string, unknown>): void {
    if (isObject(delta) && typeof delta["stop_reason"] === "string") {
      this.#stopped = delta;
      this.hasContent = true;
    }
    if (isObject(usage)) this.#addReport(usage);
    this.#ending.push({ frame, usage: isObject(usage) ? usage : MISSING });
  }

  /** Writes what was held back, with the usage as it is billed by now. */
  #writeEnding(output: Uint8Array[]): void {
    const ending = this.#ending.splice(0);
    const last = ending.findLast(({ usage }) => usage !== null);
    for (const each of ending) {
      if (each.usage === null) output.push(each.frame);
      else output.push(this.#withBilled(each.frame, each.usage, each === last));
    }
  }

  /** Official clients fail on a `message_delta` without usage, and take the numbers of the last one. */
  #withBilled(frame: Buffer, usage: Record<string, unknown>, isLast: boolean): Buffer {
    const billed = this.#billed(true);
    this.#shown = mergeUsageAsClients(this.#shown, usage);
    const isReported = usage !== MISSING && !isCorrected(billed);
    if (isReported && (!isLast || showsBilled(this.#shown, billed))) return frame;
    this.#shown = { ...writeUsage(billed) };
    return editEvent(frame, "usage", (old) => correctedUsage(old, billed));
  }

  #finish(frame: Buffer): void {
    if (!this.hasContent) throw new UpstreamError("broken", "a stream without content");
    this.#ending.push({ frame, usage: null });
    this.#hasStop = true;
    this.isDone = true;
  }

  #addBlock(block: unknown): void {
    checkBegun(block);
    const { eighths } = this.#delivered;
    addBlock(this.#delivered, block);
    if (this.#delivered.eighths > eighths || !isFilledLater(block["type"])) this.hasContent = true;
  }

  /** Returns whether the delta is a piece of text and nothing else. */
  #addDelta(delta: unknown): boolean {
    if (!isObject(delta)) throw new UpstreamError("broken", "a delta that is none");
    const { eighths } = this.#delivered;
    addDelta(this.#delivered, delta);
    // A piece of arguments may be empty, as may be the text of one that only cites.
    const isPlain = this.#delivered.eighths > eighths;
    if (isPlain || delta["type"] === "signature_delta") this.hasContent = true;
    return isPlain;
  }

  /** Keeps what is reported, unless it has nothing usable and an earlier report has. */
  #addReport(usage: unknown): void {
    if (!isObject(usage)) return;
    const merged = mergeUsage(this.#reported, usage);
    const report = readUsage(merged);
    if (this.#report && !report?.hasInput && !report?.hasOutput) return;
    this.#reported = merged;
    this.#report = report;
    this.#reportedEighths = this.#delivered.eighths;
  }

  /** Whether the vendor's ending tells why the message ended, and what is billed. */
  #isTold(): boolean {
    if (this.#ending.some(({ usage }) => usage !== null)) return this.#stopped !== null;
    return this.#stopped !== null && showsBilled(this.#shown, this.#billed(true));
  }

  /** The last event but one, where the vendor left it out or went on after it. */
  #ownDelta(): Buffer {
    const delta = { ...NOT_STOPPED, stop_reason: "end_turn", container: null, ...this.#stopped };
    return eventFrame({ type: "message_delta", delta, usage: writeUsage(this.#billed(true)) });
  }
}

/** Stands for the usage that a `message_delta` lacks. */
const MISSING: Record<string, unknown> = {};

/** A frame of the ending; `usage` of a `message_delta`, null of another. */
interface EndingFrame {
  frame: Buffer;
  usage: Record<string, unknown> | null;
}

/** Blocks that begin empty, so that a caller sees nothing yet. */
function isFilledLater(type: unknown): boolean {
  return type === "text" || type === "thinking";
}
