import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { frameData, FrameSplitter } from "../../lib/sse.ts";
import type { TextStream } from "../dialect.ts";
import { Delivered } from "./delivered.ts";
import type { ReplyReader, ReplyWriter } from "./reply.ts";

/** Of one event of a vendor. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** A stream from a vendor of one dialect to a caller of another. */
export class TranslatedStream implements TextStream {
  readonly #splitter = new FrameSplitter();
  readonly #reader: ReplyReader;
  readonly #writer: ReplyWriter;
  readonly #delivered: Delivered;
  #failure: unknown = null;

  constructor(reader: ReplyReader, writer: ReplyWriter, policy: UsagePolicy) {
    this.#reader = reader;
    this.#writer = writer;
    this.#delivered = new Delivered(policy);
  }

  get hasContent(): boolean {
    return this.#delivered.hasContent;
  }

  get isDone(): boolean {
    return this.#failure !== null || this.#reader.isDone;
  }

  push(chunk: Uint8Array): Uint8Array {
    const isCommitted = this.hasContent;
    let output = "";
    try {
      for (const frame of this.#splitter.push(chunk)) output += this.#translate(frame);
      if (this.#reader.isDone && !this.hasContent)
        throw new UpstreamError("broken", "a stream without content");
    } catch (error) {
      if (!isCommitted) throw error;
      // The content that came in the same chunk has been counted, so it goes out first; `end` throws the error.
      this.#failure = error;
    }
    if (this.#splitter.restBytes > MAX_FRAME_BYTES) throw new UpstreamError("broken", "an endless event");
    return Buffer.from(output);
  }

  end(): Uint8Array {
    if (this.#failure) throw this.#failure;
    const rest = this.#splitter.end();
    const output = rest.length > 0 ? this.#translate(rest) : "";
    if (!this.#reader.isComplete) throw new UpstreamError("broken", "the stream was cut");
    return Buffer.from(output + this.#writer.end(this.usage()));
  }

  usage(): TokenUsage {
    return this.#delivered.usage(this.#failure === null && this.#reader.isComplete);
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
