import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type UsagePolicy } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import type { TextStream } from "../dialect.ts";
import { ForwardedStream, type FrameForwarder } from "../sse/forwarded-stream.ts";
import { frameTemplate, type FrameTemplate } from "../sse/frame-template.ts";
import {
  commentsOf,
  neutralFrame,
  parseVendorObject,
  vendorFields,
  withoutFields,
} from "../sse/vendor-frames.ts";
import { MessagesReader } from "./read-reply.ts";
import { StreamMeter } from "../stream-meter.ts";
import { addBlock, addDelta, checkBegun, NOT_STOPPED } from "./content.ts";
import {
  correctedUsage,
  mergeUsage,
  mergeUsageAsClients,
  readUsage,
  showsBilled,
  writeUsage,
} from "./usage.ts";
import { reportedFailure, writeError } from "./error.ts";
import { editEvent, eventFrame, namedFrame } from "./event-frame.ts";

const TEXT_NAMES = /"(?:text|thinking|partial_json)"\s*:\s*"/g;

/**
 * Returns a messages stream of an upstream with the same dialect. Changes the model name and usage that differs from
 * the billed usage, and removes fields that identify the vendor. Other content of events and blocks stays unchanged.
 * Keeps back the events that end the message until the upstream ends or further content arrives.
 */
export function openStream(publicModel: string, policy: UsagePolicy): TextStream {
  const meter = new StreamMeter(policy);
  return new ForwardedStream(new MessagesForwarder(publicModel, meter), meter, () => new MessagesReader());
}

class MessagesForwarder implements FrameForwarder {
  readonly #publicModel: string;
  readonly #meter: StreamMeter;
  /** All usage of the vendor so far, merged. */
  #reported: Record<string, unknown> = {};
  /** The usage in the frames that were sent to the client so far. */
  #shown: Record<string, unknown> = {};
  /** Frames that end the message. They are kept back, because content may still follow. */
  #ending: EndingFrame[] = [];
  /** The last `delta` with a stop reason; null before it arrives. */
  #stopped: Record<string, unknown> | null = null;

  isDone = false;

  constructor(publicModel: string, meter: StreamMeter) {
    this.#publicModel = JSON.stringify(publicModel);
    this.#meter = meter;
  }

  get isComplete(): boolean {
    return this.isDone || this.#stopped !== null;
  }

  forward(frame: Buffer, data: string, output: Uint8Array[]): FrameTemplate | null {
    // Vendors that relay other vendors may add the end mark of chat completions.
    if (data.startsWith("[DONE]")) return null;
    const event = parseVendorObject(data);
    const written = namedFrame(neutralFrame(frame), event["type"]);
    let isRepeatable = false;
    switch (event["type"]) {
      case "message_start":
        output.push(this.#start(written, event));
        return null;
      case "message_delta":
        this.#stop(written, event);
        return null;
      case "message_stop":
        this.#ending.push({ frame: written, usage: null });
        this.isDone = true;
        return null;
      case "ping":
        this.#pass(written, output);
        return null;
      case "content_block_start":
        this.#addBlock(event["content_block"]);
        break;
      case "content_block_delta":
        isRepeatable = this.#addDelta(event["delta"]);
        break;
      default:
        if (event["error"]) throw reportedFailure(event["error"]);
    }
    this.#writeEnding(output);
    output.push(written);
    return isRepeatable ? frameTemplate(frame, written, TEXT_NAMES) : null;
  }

  forwardComment(frame: Buffer, output: Uint8Array[]): void {
    this.#pass(commentsOf(frame), output);
  }

  end(): Uint8Array[] {
    const output: Uint8Array[] = [];
    if (!this.#isTold()) output.push(this.#ownDelta());
    this.#writeEnding(output);
    if (!this.isDone) output.push(eventFrame({ type: "message_stop" }));
    return output;
  }

  errorFrame(error: GatewayError): Uint8Array {
    return eventFrame({ ...writeError(error), type: "error" });
  }

  /**
   * Sends a frame without content. While other frames are kept back, this frame is also kept back, so that the order
   * stays.
   */
  #pass(frame: Buffer, output: Uint8Array[]): void {
    if (this.#ending.length > 0) this.#ending.push({ frame, usage: null });
    else output.push(frame);
  }

  #start(frame: Buffer, { message }: Record<string, unknown>): Buffer {
    if (!isObject(message)) throw new UpstreamError("broken", "a stream that begins without a message");
    if (message["usage"]) this.#addReport(message["usage"]);
    const usage = this.#meter.usage(false);
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
      this.#meter.hasContent = true;
    }
    if (isObject(usage)) this.#addReport(usage);
    this.#ending.push({ frame, usage: isObject(usage) ? usage : MISSING });
  }

  /** Writes the frames that were kept back, with the usage that is billed now. */
  #writeEnding(output: Uint8Array[]): void {
    const ending = this.#ending.splice(0);
    const last = ending.findLast(({ usage }) => usage !== null);
    for (const each of ending) {
      if (each.usage === null) output.push(each.frame);
      else output.push(this.#withBilled(each.frame, each.usage, each === last));
    }
  }

  /** Returns the frame with the billed usage. Official clients require a usage, and use the usage of the last frame. */
  #withBilled(frame: Buffer, usage: Record<string, unknown>, isLast: boolean): Buffer {
    const billed = this.#meter.usage(true);
    this.#shown = mergeUsageAsClients(this.#shown, usage);
    const isReported = usage !== MISSING && !isCorrected(billed);
    if (isReported && (!isLast || showsBilled(this.#shown, billed))) return frame;
    const hasIterations = this.#hasIterations();
    this.#shown = { ...writeUsage(billed) };
    return editEvent(frame, "usage", (old) => correctedUsage(old, billed, hasIterations));
  }

  #addBlock(block: unknown): void {
    checkBegun(block);
    addBlock(this.#meter.pieces, block);
    if (!isFilledLater(block["type"])) this.#meter.hasContent = true;
  }

  /** Measures a delta. Returns true when it contains a piece of text. */
  #addDelta(delta: unknown): boolean {
    if (!isObject(delta)) throw new UpstreamError("broken", "a delta that is none");
    const { pieces } = this.#meter;
    const { eighths } = pieces;
    addDelta(pieces, delta);
    if (delta["type"] === "signature_delta") this.#meter.hasContent = true;
    // Some deltas have no text: a piece of arguments may be empty, and a delta may contain only citations.
    return pieces.eighths > eighths;
  }

  /** Merges usage into the earlier usage. Later events contain only some of the counts. */
  #addReport(usage: unknown): void {
    if (!isObject(usage)) return;
    const merged = mergeUsage(this.#reported, usage);
    if (this.#meter.report(readUsage(merged))) this.#reported = merged;
  }

  /** True when the vendor's own events give the client the stop reason and the billed numbers. */
  #isTold(): boolean {
    if (this.#ending.some(({ usage }) => usage !== null)) return this.#stopped !== null;
    return this.#stopped !== null && showsBilled(this.#shown, this.#meter.usage(true));
  }

  /** Returns a `message_delta` of the gateway, for a client that lacks the stop reason or the billed numbers. */
  #ownDelta(): Buffer {
    const delta = { ...NOT_STOPPED, stop_reason: "end_turn", container: null, ...this.#stopped };
    const usage = {
      ...writeUsage(this.#meter.usage(true)),
      ...(this.#hasIterations() && { iterations: [] }),
    };
    return eventFrame({ type: "message_delta", delta, usage });
  }

  /** True when the client has received a usage with `iterations`, whose numbers may differ from the billed numbers. */
  #hasIterations(): boolean {
    return Array.isArray(this.#shown["iterations"]);
  }
}

/** Replaces the usage of a `message_delta` without usage. */
const MISSING: Record<string, unknown> = {};

/** One of the last frames of a message. `usage` is the usage of a `message_delta`; null for other frames. */
interface EndingFrame {
  frame: Buffer;
  usage: Record<string, unknown> | null;
}

/** True for blocks that begin empty. The caller sees nothing of such a block until its first delta. */
function isFilledLater(type: unknown): boolean {
  return type === "text" || type === "thinking";
}
