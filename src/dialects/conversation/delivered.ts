import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import { StreamMeter } from "../stream-meter.ts";
import type { ReplyEvent } from "./reply.ts";

/** Characters of the calls' arguments, which are parsed at the end of a reply. 200,000 tokens have as many. */
const MAX_ARGUMENT_CHARACTERS = 1024 * 1024;
/** Characters of a reply, which some protocols repeat whole at its end. Twice as many as a million tokens have. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Calls, signatures, and pieces of text or reasoning that follow something else: each is an item of some protocols. */
const MAX_ITEMS = 10_000;

/**
 * Counts what a reply delivers, event by event, beside what the vendor reports of it. Throws an `UpstreamError` for
 * more than a model writes, because the writer keeps the reply until its end.
 */
export class Delivered {
  readonly #meter: StreamMeter;
  #argumentCharacters = 0;
  #characters = 0;
  #items = 0;
  /** The kind of the item that a further piece belongs to. */
  #item: ReplyEvent["type"] | null = null;
  constructor(policy: UsagePolicy) {
    this.#meter = new StreamMeter(policy);
  }

  /** True once there is content for a caller. A signature alone, of hidden thoughts, is none yet. */
  get hasContent(): boolean {
    return this.#meter.hasContent;
  }

  add(event: ReplyEvent): void {
    switch (event.type) {
      case "text":
      case "refusal":
      case "reasoning":
        if (event.type !== this.#item && event.text !== "") this.#addItem(event.type);
        return this.#addText(event.text);
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
        this.#meter.hasContent = true;
        return;
      case "use":
        return this.#meter.pieces.addUse(event.feature);
      case "usage":
        this.#meter.report(event.report);
        return;
      case "signature":
        this.#addItem(event.type);
        return this.#keep(event.signature.value);
      case "start":
        return;
    }
  }

  /** The beginning of what was delivered. */
  get text(): string {
    return this.#meter.delivered.text;
  }

  /** Returns the billed usage so far. `isComplete`: nothing is missing of the reply. */
  usage(isComplete: boolean): TokenUsage {
    return this.#meter.usage(isComplete);
  }

  #addText(text: string): void {
    if (text === "") return;
    this.#meter.hasContent = true;
    this.#keep(text);
    this.#meter.pieces.add(text);
  }

  /** Counts what whoever writes the reply keeps. */
  #keep(text: string): void {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) throw new UpstreamError("broken", "a reply with too much text");
  }

  #addItem(type: ReplyEvent["type"]): void {
    this.#item = type;
    if (++this.#items > MAX_ITEMS) throw new UpstreamError("broken", "a reply with too many items");
  }
}
