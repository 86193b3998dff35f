import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { frameData } from "../../lib/sse.ts";
import type { TextStream } from "../dialect.ts";
import { Delivered } from "./delivered.ts";
import type { ReplyReader, ReplyWriter } from "./reply.ts";
import { VendorFrames } from "../sse/vendor-frames.ts";

/** Bytes of a stream: its reader may keep incomplete items. 400,000 tokens have as many, each in its own event. */
const MAX_BYTES = 128 * 1024 * 1024;

/** A stream from a vendor of one dialect to a caller of another. */
export class TranslatedStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #reader: ReplyReader;
  readonly #writer: ReplyWriter;
  readonly #delivered: Delivered;
  #bytes = 0;

  constructor(reader: ReplyReader, writer: ReplyWriter, policy: UsagePolicy) {
    this.#reader = reader;
    this.#writer = writer;
    this.#delivered = new Delivered(policy);
  }

  get hasContent(): boolean {
    return this.#delivered.hasContent;
  }

  get isDone(): boolean {
    return this.#frames.hasFailed || this.#reader.isDone;
  }

  push(chunk: Uint8Array): Uint8Array {
    if ((this.#bytes += chunk.length) > MAX_BYTES) throw new UpstreamError("broken", "an endless stream");
    let output = "";
    this.#frames.read(chunk, this.hasContent, (frame) => (output += this.#translate(frame)));
    if (this.#reader.isDone && !this.hasContent)
      throw new UpstreamError("broken", "a stream without content");
    return Buffer.from(output);
  }

  end(): Uint8Array {
    let output = "";
    this.#frames.end((frame) => (output += this.#translate(frame)));
    if (!this.#reader.isComplete) throw new UpstreamError("broken", "the stream was cut");
    return Buffer.from(output + this.#writer.end(this.usage()));
  }

  get text(): string {
    return this.#delivered.text;
  }

  usage(): TokenUsage {
    return this.#delivered.usage(!this.#frames.hasFailed && this.#reader.isComplete);
  }

  errorFrame(error: GatewayError): Uint8Array {
    return Buffer.from(this.#writer.fail(error));
  }

  #translate(frame: Uint8Array): string {
    if (this.#reader.isDone) return "";
    const data = frameData(frame);
    // An event without data is none (WHATWG HTML, 9.2.6).
    if (data === null || data === "") return "";
    let output = "";
    for (const event of this.#reader.read(data)) {
      this.#delivered.add(event);
      // The ending tells the usage that is billed.
      if (event.type !== "usage") output += this.#writer.write(event);
    }
    return output;
  }
}
