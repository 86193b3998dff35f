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
 * Maximum bytes of a stream, because its reader may keep incomplete items. 400,000 tokens take that many if each has an
 * event of its own.
 */
const MAX_BYTES = 128 * 1024 * 1024;

/** A stream from a vendor of one dialect to a caller of another dialect. */
export class TranslatedStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #reader: ReplyReader;
  readonly #writer: ReplyWriter;
  readonly #delivered: Delivered;
  #bytes = 0;
  /** True after the caller has got content. Content that the writer still keeps does not count. */
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
    // A client ignores an event without data (WHATWG HTML, 9.2.6).
    if (data === null || data === "") return "";
    let output = "";
    for (const event of this.#reader.read(data)) {
      this.#delivered.add(event);
      // The ending contains the billed usage.
      if (event.type === "usage") continue;
      const written = this.#writer.write(event);
      this.#isShown ||= this.#delivered.hasContent && (written !== "" || event.type === "finish");
      output += written;
    }
    return output;
  }
}

/**
 * Maximum characters of the arguments of all calls, which are parsed at the end of a reply. 200,000 tokens have that
 * many.
 */
const MAX_ARGUMENT_CHARACTERS = 1024 * 1024;
/**
 * Maximum characters of a reply, which some protocols repeat as a whole at its end. Two million tokens have that many.
 */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/**
 * Maximum number of tokens with log probabilities, including their alternatives. 24,000 tokens with twenty alternatives
 * each have that many.
 */
const MAX_LOGPROBS = 500_000;
/** Maximum number of items: calls, signatures, and pieces of text or reasoning that follow something else. */
const MAX_ITEMS = 10_000;

/**
 * Counts what a reply delivers, event by event, for comparison with the vendor's report. Throws an `UpstreamError` when
 * the reply is larger than a model can write, because the writer keeps the reply until its end.
 */
export class Delivered {
  readonly #meter: StreamMeter;
  readonly #emptiness = new Emptiness();
  #argumentCharacters = 0;
  #characters = 0;
  #items = 0;
  #logprobs = 0;
  /** Kind of the current item; further pieces of this kind belong to it. */
  #item: ReplyEvent["type"] | null = null;
  constructor(policy: UsagePolicy) {
    this.#meter = new StreamMeter(policy);
  }

  /** True after the caller has content. The signature of hidden thoughts alone is not content. */
  get hasContent(): boolean {
    return this.#meter.hasContent;
  }

  /** True after the reply has ended without any content. */
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

  /** Returns the billed usage so far. `isComplete` is true when the reply has arrived completely. */
  usage(isComplete: boolean): TokenUsage {
    return this.#meter.usage(isComplete);
  }

  #addText(text: string, isRepeat = false): void {
    if (text === "") return;
    this.#meter.hasContent = true;
    this.#keep(text);
    if (!isRepeat) this.#meter.pieces.add(text);
  }

  /** Counts characters that the writer of the reply keeps. */
  #keep(text: string): void {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) throw new UpstreamError("broken", "a reply with too much text");
  }

  #addItem(type: ReplyEvent["type"]): void {
    this.#item = type;
    if (++this.#items > MAX_ITEMS) throw new UpstreamError("broken", "a reply with too many items");
  }
}
