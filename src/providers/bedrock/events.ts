import { parseBounded } from "../../lib/parse-json.ts";
import type { ByteStream } from "../../lib/byte-stream.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { editMembers, removeMembers } from "../../lib/json-edit.ts";
import { brokenResponse } from "../transport/http.ts";
import { type VendorErrors } from "../transport/vendor-errors.ts";
import { readException } from "./errors.ts";
import { FrameReader, type Frame } from "./frames.ts";

/**
 * Converts an event stream of Bedrock to server-sent events of the messages protocol while the stream is read. An
 * exception in the stream becomes an `UpstreamError`, after all events before the exception.
 */
export function toServerSentEvents(source: ByteStream, errors: VendorErrors): ByteStream {
  const reader = source.getReader();
  const frames = new FrameReader();
  const events = new EventWriter(errors);
  let failure: unknown = null;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        if (failure !== null) throw failure;
        for (;;) {
          const { done, value } = await reader.read();
          let text = "";
          try {
            if (done || !value) frames.end();
            else for (const frame of frames.push(value)) text += events.write(frame);
          } catch (error) {
            reader.cancel().catch(() => {});
            if (text === "") throw error;
            failure = error;
          }
          if (text !== "") return controller.enqueue(Buffer.from(text));
          if (done) return controller.close();
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** Matches the type of an event. Vendors write the type as the first member. */
const TYPE = /^\{\s*"type"\s*:\s*"(\w+)"/;
/** Prefix of the members that Bedrock adds to the model's events. */
const OWN = "amazon-bedrock-";
const METRICS = "amazon-bedrock-invocationMetrics";

/** Writes the server-sent events of one stream. */
class EventWriter {
  readonly #errors: VendorErrors;
  /** A `message_delta` that arrived without usage, kept back until the usage is known; null when there is none. */
  #unmetered: string | null = null;

  constructor(errors: VendorErrors) {
    this.#errors = errors;
  }

  /** Converts a frame to server-sent events: none, one or several. Throws an `UpstreamError` for a failure. */
  write({ kind, name, payload, message }: Frame): string {
    if (kind !== "event") {
      const reading = readException(name, textOf(payload["message"]) || message);
      throw this.#errors.raise(reading.kind ?? "overloaded", reading);
    }
    if (name !== "chunk") return "";
    const { bytes } = payload;
    if (typeof bytes !== "string") throw brokenResponse("gave a chunk without bytes");
    // A line break would end the line of data. JSON has line breaks only between tokens, so a space can replace them.
    const event = Buffer.from(bytes, "base64")
      .toString()
      .replace(/[\r\n]+/g, " ");
    return this.#writeEvent(event);
  }

  #writeEvent(event: string): string {
    const type = TYPE.exec(event)?.[1];
    if (type === "message_delta" && !event.includes('"output_tokens"')) {
      const earlier = this.#takeUnmetered();
      this.#unmetered = event;
      return earlier;
    }
    if (!event.includes(OWN)) return this.#takeUnmetered() + serverSent(event, type);
    const parsed = parse(event);
    const usage = usageOf(parsed[METRICS]);
    if (this.#unmetered !== null && usage)
      this.#unmetered = editMembers(this.#unmetered, { usage: () => JSON.stringify(usage) });
    const own = Object.keys(parsed).filter((each) => each.startsWith(OWN));
    return this.#takeUnmetered() + serverSent(removeMembers(event, own), type);
  }

  #takeUnmetered(): string {
    const event = this.#unmetered;
    this.#unmetered = null;
    return event === null ? "" : serverSent(event, "message_delta");
  }
}

function serverSent(event: string, type: string | undefined): string {
  return type === undefined ? `data: ${event}\n\n` : `event: ${type}\ndata: ${event}\n\n`;
}

function parse(event: string): Record<string, unknown> {
  try {
    const value: unknown = parseBounded(event);
    if (isObject(value)) return value;
  } catch (cause) {
    throw brokenResponse("gave an event that is no JSON", cause);
  }
  throw brokenResponse("gave an event that is no object");
}

/** Reads the counts that Bedrock adds to the last event, for a stream without reported usage. */
function usageOf(metrics: unknown): Record<string, number> | null {
  if (!isObject(metrics)) return null;
  const input = saneCount(metrics["inputTokenCount"]);
  const output = saneCount(metrics["outputTokenCount"]);
  if (input === null || output === null) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: saneCount(metrics["cacheReadInputTokenCount"]) ?? 0,
    cache_creation_input_tokens: saneCount(metrics["cacheWriteInputTokenCount"]) ?? 0,
  };
}
