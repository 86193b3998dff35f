import type { TokenUsage } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { frameData, FrameSplitter } from "../../lib/sse.ts";
import { frameTemplate, repeatFrames, type FrameTemplate } from "./frame-template.ts";
import { contentBytes, estimateUsage } from "./reply.ts";
import { readUsage, writeUsage } from "./usage.ts";

const MODEL = /"model"\s*:\s*"(?:[^"\\]|\\.)*"/;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Relays a chat stream from an upstream of the same dialect. Frames pass as the bytes they came in, but for the
 * model name; a frame like the one before is not parsed again. It promises the caller's ending: one usage chunk,
 * then `[DONE]`, after an answer that came to its end, and neither after one that was cut.
 */
export class ChatStream {
  readonly #splitter = new FrameSplitter();
  /** As it stands in a frame; in Latin-1, where one character is one byte. */
  readonly #publicModel: string;
  readonly #inputBytes: number;
  #template: FrameTemplate | null = null;
  #usage: TokenUsage | null = null;
  #usageFrame: Buffer | null = null;
  #lastChunk: Record<string, unknown> = {};
  #outputBytes = 0;
  /** Choices by their index: those that have begun and not ended, and those that have ended. */
  readonly #running = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  #failure: unknown = null;

  /** True once the caller would see content: from then on there is no other upstream. */
  hasContent = false;
  /** True once the upstream said its last word; later bytes are not for the caller. */
  isDone = false;

  constructor(publicModel: string, inputBytes: number) {
    this.#publicModel = Buffer.from(`"model":${JSON.stringify(publicModel)}`).toString("latin1");
    this.#inputBytes = inputBytes;
  }

  /** Takes upstream bytes and gives those for the caller. Throws an `UpstreamError` on an error frame or garbage. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#template === null || !this.#splitter.isEmpty || this.isDone) return this.#read(chunk, []);
    const { output, readBytes, textBytes } = repeatFrames(this.#template, chunk);
    this.#outputBytes += textBytes;
    return readBytes === chunk.length ? output : this.#read(chunk.subarray(readBytes), [output]);
  }

  /** Reads a chunk frame by frame; `output` is what goes before. */
  #read(chunk: Uint8Array, output: Uint8Array[]): Uint8Array {
    const isCommitted = this.hasContent;
    try {
      for (const frame of this.#splitter.push(chunk)) {
        if (!this.isDone) this.#readFrame(frame, output);
      }
    } catch (error) {
      if (!isCommitted) throw error;
      // The content that came in the same chunk has been counted, so it goes out first; `end` tells the rest.
      this.#failure = error;
      this.isDone = true;
    }
    if (this.#splitter.restBytes > MAX_FRAME_BYTES) throw new UpstreamError("broken", "an endless event");
    return output.length === 1 ? (output[0] ?? NOTHING) : Buffer.concat(output);
  }

  /**
   * The upstream has ended. Gives the caller's ending; throws an `UpstreamError` when the answer was cut. To be
   * called once, after usage has been recorded by whoever pays.
   */
  end(): Uint8Array {
    if (this.#failure) throw this.#failure;
    const output: Buffer[] = [];
    const rest = this.#splitter.end();
    if (!this.isDone && rest.length > 0) this.#readFrame(Buffer.concat([rest, Buffer.from("\n\n")]), output);
    const isWhole = this.isDone || (this.#ended.size > 0 && this.#running.size === 0);
    if (!isWhole) throw new UpstreamError("broken", "the stream was cut");
    output.push(this.#usageFrame ?? this.#ownUsageFrame(), Buffer.from("data: [DONE]\n\n"));
    return Buffer.concat(output);
  }

  /** What has been used so far: the upstream's word, or an estimate from what the caller received. */
  usage(): TokenUsage {
    return this.#usage ?? estimateUsage(this.#inputBytes, this.#outputBytes);
  }

  #readFrame(frame: Buffer, output: Uint8Array[]): void {
    const data = frameData(frame);
    // An event without data is none (WHATWG HTML, 9.2.6).
    if (data === null || data === "") {
      output.push(frame);
      return;
    }
    if (data.startsWith("[DONE]")) {
      this.isDone = true;
      return;
    }
    const event = parseEvent(data);
    if (event["error"]) throw inStreamError(event["error"]);
    const { choices } = event;
    const usage = readUsage(event["usage"] ?? firstChoice(choices)?.["usage"] ?? groqUsage(event));
    if (usage) this.#usage = usage;
    if (!Array.isArray(choices)) return;
    if (choices.length > 0) this.#lastChunk = event;
    for (const choice of choices) this.#readChoice(choice);
    const written = this.#withPublicModel(frame);
    if (choices.length === 0 && isObject(event["usage"])) {
      if (usage) this.#usageFrame = usage.anomalous ? null : written;
      return;
    }
    output.push(written);
    this.#template = isPlain(event) ? frameTemplate(frame, written) : null;
  }

  #readChoice(choice: unknown): void {
    if (!isObject(choice)) return;
    if (typeof choice["finish_reason"] === "string") {
      this.hasContent = true;
      this.#ended.add(choice["index"]);
      this.#running.delete(choice["index"]);
    } else if (!this.#ended.has(choice["index"])) this.#running.add(choice["index"]);
    const bytes = isObject(choice["delta"]) ? contentBytes(choice["delta"]) : 0;
    if (bytes > 0) this.hasContent = true;
    this.#outputBytes += bytes;
  }

  #withPublicModel(frame: Buffer): Buffer {
    const text = frame.toString("latin1");
    const found = MODEL.exec(text)?.[0];
    if (found === undefined || found === this.#publicModel) return frame;
    return Buffer.from(
      text.replace(found, () => this.#publicModel),
      "latin1",
    );
  }

  /** For an upstream that did not count: a usage chunk in its own manner, from the estimate. */
  #ownUsageFrame(): Buffer {
    const { id, created } = this.#lastChunk;
    const said = JSON.stringify({ id, object: "chat.completion.chunk", created }).slice(1, -1);
    const head = Buffer.from(said).toString("latin1");
    const usage = JSON.stringify(writeUsage(this.usage()));
    return Buffer.from(`data: {${head},${this.#publicModel},"choices":[],"usage":${usage}}\n\n`, "latin1");
  }
}

/** An error as the caller of a chat stream meets it: an event of its own, and no ending after it. */
export function errorFrame(body: object): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
}

/** A comment, which every reader skips: it fills silence. */
export const KEEP_ALIVE_FRAME: Uint8Array = Buffer.from(": keep-alive\n\n");

function parseEvent(data: string): Record<string, unknown> {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw new UpstreamError("broken", "an event is not JSON", { cause });
  }
  if (!isObject(event)) throw new UpstreamError("broken", "an event is not an object");
  return event;
}

/** Whether a chunk holds a piece of text and nothing that has to be remembered. */
function isPlain(event: Record<string, unknown>): boolean {
  const { choices } = event;
  const choice = Array.isArray(choices) && choices.length === 1 ? firstChoice(choices) : undefined;
  if (!choice || event["usage"] || event["x_groq"] || choice["usage"] || choice["finish_reason"])
    return false;
  return isObject(choice["delta"]) && contentBytes(choice["delta"]) > 0 && !choice["delta"]["tool_calls"];
}

function firstChoice(choices: unknown): Record<string, unknown> | undefined {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? first : undefined;
}

function groqUsage(event: Record<string, unknown>): unknown {
  return isObject(event["x_groq"]) ? event["x_groq"]["usage"] : undefined;
}

/** Vendors report trouble inside a running stream as a frame with `error`. */
function inStreamError(error: unknown): UpstreamError {
  const word = isObject(error)
    ? `${String(error["type"] ?? "")} ${String(error["code"] ?? "")}`
    : String(error);
  return new UpstreamError("overloaded", `error inside the stream: ${word.slice(0, 200)}`);
}
