import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { frameData } from "../../lib/sse.ts";
import { Opening } from "../conversation/empty-reply.ts";
import type { ReplyReader } from "../conversation/reply.ts";
import type { TextStream } from "../dialect.ts";
import type { StreamMeter } from "../stream-meter.ts";
import { repeatFrames, type FrameTemplate } from "./frame-template.ts";
import { VendorFrames } from "./vendor-frames.ts";

/** The part of a forwarded stream that depends on the dialect. It reads frames and writes the caller's frames. */
export interface FrameForwarder {
  /** True after the upstream's end mark. */
  readonly isDone: boolean;
  /** True when the reply is complete, so that the stream may end. */
  readonly isComplete: boolean;
  /**
   * Reads a frame with data. Measures its content and its usage, and appends the caller's frames to `output`. Returns a
   * template if later frames may differ from this frame only in their text. Throws an `UpstreamError` for an error
   * event and for data that breaks the protocol.
   */
  forward(frame: Buffer, data: string, output: Uint8Array[]): FrameTemplate | null;
  /** Reads a frame without data. Appends the caller's frames to `output`. */
  forwardComment(frame: Buffer, output: Uint8Array[]): void;
  /** Returns the last frames of a complete reply for the caller. */
  end(): Uint8Array[];
  /** Returns the frames with the error. These frames replace the normal end of the stream. */
  errorFrame(error: GatewayError): Uint8Array;
}

const NOTHING = new Uint8Array(0);

/**
 * Relays a stream of an upstream to a caller of the same dialect. The bytes of a frame stay unchanged, except where the
 * dialect changes them. A frame that matches the template of the previous frame is not parsed. After the first content,
 * no other upstream can continue the request. `end` throws for a cut reply.
 */
export class ForwardedStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #forwarder: FrameForwarder;
  readonly #meter: StreamMeter;
  /** Events before the first content. Null when content has arrived. */
  #opening: Opening | null;
  /** Template of the last frame. Null when the last frame has no template. */
  #template: FrameTemplate | null = null;

  /** `meter` receives the content from the forwarder. A reader of `openReader` detects an empty reply. */
  constructor(forwarder: FrameForwarder, meter: StreamMeter, openReader: () => ReplyReader) {
    this.#forwarder = forwarder;
    this.#meter = meter;
    this.#opening = new Opening(openReader);
  }

  get hasContent(): boolean {
    return this.#opening === null;
  }

  get lack(): TextStream["lack"] {
    if (!this.#isComplete || !this.#meter.hasContent) return "cut";
    return this.#opening?.isEmpty ? "empty" : null;
  }

  get isDone(): boolean {
    return this.#forwarder.isDone || this.#frames.hasFailed;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#template === null || !this.#frames.isEmpty) return this.#read(chunk, []);
    const { output, readBytes } = repeatFrames(this.#template, chunk, this.#meter.pieces);
    return readBytes === chunk.length ? output : this.#read(chunk.subarray(readBytes), [output]);
  }

  end(): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.end((frame) => this.#forward(frame, output));
    if (!this.#isComplete) throw new UpstreamError("broken", "the stream was cut");
    return Buffer.concat([...output, ...this.#forwarder.end()]);
  }

  get text(): string {
    return this.#meter.delivered.text;
  }

  usage(): TokenUsage {
    return this.#meter.usage(this.#isComplete);
  }

  errorFrame(error: GatewayError): Uint8Array {
    return this.#forwarder.errorFrame(error);
  }

  get #isComplete(): boolean {
    return !this.#frames.hasFailed && this.#forwarder.isComplete;
  }

  /** Reads a chunk frame by frame. `output` has the frames to send before the frames of the chunk. */
  #read(chunk: Uint8Array, output: Uint8Array[]): Uint8Array {
    this.#frames.read(chunk, this.hasContent, (frame) => this.#forward(frame, output));
    return output.length === 1 ? (output[0] ?? NOTHING) : Buffer.concat(output);
  }

  #forward(frame: Buffer, output: Uint8Array[]): void {
    if (this.isDone) return;
    const data = frameData(frame);
    if (!data) return this.#forwarder.forwardComment(frame, output);
    const meter = this.#meter;
    const { eighths } = meter.delivered;
    this.#template = null;
    const template = this.#forwarder.forward(frame, data, output);
    if (meter.delivered.eighths > eighths) meter.hasContent = true;
    if (this.#opening) this.#lookForContent(this.#opening, data);
    if (this.hasContent) this.#template = template;
    if (this.#forwarder.isDone && !meter.hasContent)
      throw new UpstreamError("broken", "a stream without content");
  }

  /**
   * Looks for content in an event. The end of a reply without text counts as content, but not if the whole reply is
   * empty, because another vendor may return a better reply.
   */
  #lookForContent(opening: Opening, data: string): void {
    const { delivered, hasContent } = this.#meter;
    if (delivered.eighths === 0) {
      opening.add(data);
      if (!hasContent || opening.isEmpty) return;
    }
    this.#opening = null;
  }
}
