import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import { frameData } from "../../lib/sse.ts";
import type { TextStream } from "../dialect.ts";
import { VendorFrames } from "../sse/vendor-frames.ts";
import { StreamMeter } from "../stream-meter.ts";
import { Emptiness } from "./empty-reply.ts";
import type { ReplyEvent, ReplyReader, ReplyWriter } from "./reply.ts";

/**
 * Maximum number of bytes of a stream. The limit is needed because the reader may store incomplete items. It is enough
 * for 400,000 tokens with one event each.
 */
const MAX_BYTES = 128 * 1024 * 1024;

/** A stream that is read in the vendor's dialect and written in the caller's. */
export class TranslatedStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #reader: ReplyReader;
  readonly #writer: ReplyWriter;
  readonly #delivered: Delivered;
  #bytes = 0;
  /** True when the caller has received content. Content that the writer keeps back does not count. */
  #isShown = false;

  constructor(reader: ReplyReader, writer: ReplyWriter, policy: UsagePolicy) {
    this.#reader = reader;
    this.#writer = writer;
    this.#delivered = new Delivered(policy);
  }

  get hasContent(): boolean {
    return this.#isShown;
  }

  get lack(): TextStream["lack"] {
    if (!this.#reader.isComplete) return "cut";
    if (this.#delivered.isEmpty) return "empty";
    return this.#delivered.hasContent ? null : "cut";
  }

  get isDone(): boolean {
    return this.#frames.hasFailed || this.#reader.isDone;
  }

  push(chunk: Uint8Array): Uint8Array {
    if ((this.#bytes += chunk.length) > MAX_BYTES) throw new UpstreamError("broken", "an endless stream");
    let output = "";
    this.#frames.read(chunk, this.hasContent, (frame) => (output += this.#translate(frame)));
    if (this.#reader.isDone) this.#isShown ||= this.#delivered.hasContent;
    if (this.#reader.isDone && !this.#isShown && !this.#delivered.isEmpty)
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
    // Clients ignore an event without data (WHATWG HTML, 9.2.6).
    if (data === null || data === "") return "";
    let output = "";
    for (const event of this.#reader.read(data)) {
      this.#delivered.add(event);
      // The vendor's usage is not written, because the end of the stream contains the billed usage.
      if (event.type === "usage") continue;
      const written = this.#writer.write(event);
      this.#isShown ||= this.#delivered.hasContent && (written !== "" || event.type === "finish");
      output += written;
    }
    return output;
  }
}

/** Maximum of characters in all tool calls' arguments, which are parsed at the end; enough for 200,000 tokens. */
const MAX_ARGUMENT_CHARACTERS = 1024 * 1024;
/** Maximum of characters of a reply, which some protocols repeat at its end; enough for two million tokens. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Maximum of tokens with log probabilities and their alternatives; enough for 23,000 tokens with twenty each. */
const MAX_LOGPROBS = 500_000;
/** Maximum number of items. Items are tool calls, signatures, and uninterrupted runs of text or reasoning. */
const MAX_ITEMS = 10_000;

/**
 * Counts the delivered content of a reply, for comparison with the vendor's usage. Throws an `UpstreamError` when the
 * reply is larger than a model can write, because the writer may store the whole reply.
 */
export class Delivered {
  readonly #meter: StreamMeter;
  readonly #emptiness = new Emptiness();
  #argumentCharacters = 0;
  #characters = 0;
  #items = 0;
  #logprobs = 0;
  /** Type of the current item. Following pieces of this type belong to the same item. */
  #item: ReplyEvent["type"] | null = null;
  constructor(policy: UsagePolicy) {
    this.#meter = new StreamMeter(policy);
  }

  /** True when the caller has received content. The signature of hidden reasoning does not count as content. */
  get hasContent(): boolean {
    return this.#meter.hasContent;
  }

  /** True when the reply has ended normally and without any content. */
  get isEmpty(): boolean {
    return this.#emptiness.isEmpty;
  }

  add(event: ReplyEvent): void {
    if (!this.hasContent) this.#emptiness.add(event);
    switch (event.type) {
      case "text":
      case "refusal":
      case "reasoning":
        if (event.type !== this.#item && event.text !== "") this.#addItem(event.type);
        return this.#addText(event.text, event.isRepeat);
      case "arguments":
        this.#argumentCharacters += event.text.length;
        if (this.#argumentCharacters > MAX_ARGUMENT_CHARACTERS)
          throw new UpstreamError("broken", "a reply with too long arguments of calls");
        return this.#addText(event.text);
      case "call":
        this.#addItem(event.type);
        if (event.signature) this.#keep(event.signature.value);
        return this.#addText(event.name);
      case "finish":
        this.#meter.hasContent ||= !this.#emptiness.isEmpty;
        return;
      case "use":
        return this.#meter.pieces.addUse(event.feature);
      case "usage":
        this.#meter.report(event.report);
        return;
      case "signature":
        this.#addItem(event.type);
        return this.#keep(event.signature.value);
      case "logprobs":
        for (const { top_logprobs: alternatives } of event.tokens) this.#logprobs += 1 + alternatives.length;
        if (this.#logprobs > MAX_LOGPROBS)
          throw new UpstreamError("broken", "a reply with too many log probabilities");
        return;
      case "start":
      case "other":
        return;
    }
  }

  /** The beginning of the delivered text. */
  get text(): string {
    return this.#meter.delivered.text;
  }

  /** Returns the billed usage so far. `isComplete` is true when the whole reply has arrived. */
  usage(isComplete: boolean): TokenUsage {
    return this.#meter.usage(isComplete);
  }

  #addText(text: string, isRepeat = false): void {
    if (text === "") return;
    this.#meter.hasContent = true;
    this.#keep(text);
    if (!isRepeat) this.#meter.pieces.add(text);
  }

  /** Counts characters that the writer stores. Throws above `MAX_CHARACTERS`. */
  #keep(text: string): void {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) throw new UpstreamError("broken", "a reply with too much text");
  }

  #addItem(type: ReplyEvent["type"]): void {
    this.#item = type;
    if (++this.#items > MAX_ITEMS) throw new UpstreamError("broken", "a reply with too many items");
  }
}
