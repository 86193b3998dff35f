import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy } from "../../domain/usage.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { frameData } from "../../lib/sse.ts";
import type { TextStream } from "../dialect.ts";
import { ResponsesReader } from "./read-reply.ts";
import { SizedText, StreamMeter } from "../stream-meter.ts";
import { ForwardedStream, type FrameForwarder } from "../sse/forwarded-stream.ts";
import { commentsOf, neutralFrame, parseVendorObject } from "../sse/vendor-frames.ts";
import { addItem } from "./content.ts";
import { failureFrames, reportedFailure } from "./error.ts";
import { isOutput, publicResponse } from "./forward.ts";
import { readUsage } from "./usage.ts";

type VendorEvent = Record<string, unknown>;

/** Types of events that end a response without a failure (OpenAI responses reference, streaming events). */
const ENDINGS: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);
/** The field that official clients read without checking, by the type of the event. */
const MEMBERS: ReadonlyMap<unknown, string> = new Map([
  ["response.created", "response"],
  ["response.in_progress", "response"],
  ["response.output_item.added", "item"],
  ["response.output_item.done", "item"],
  ["response.content_part.added", "part"],
  ["response.content_part.done", "part"],
]);
/** Matches event types with a piece of the model's output. */
const DELTA = /^response\.[a-z_]+(?:\.[a-z_]+)*\.delta$/;

/**
 * Returns a responses stream of an upstream with the same dialect. `publicResponse` changes the frames with the
 * response object. The last event is kept back until the billed usage is known.
 */
export function openStream(publicModel: string, policy: UsagePolicy): TextStream {
  const meter = new StreamMeter(policy);
  return new ForwardedStream(new ResponsesForwarder(publicModel, meter), meter, () => new ResponsesReader());
}

class ResponsesForwarder implements FrameForwarder {
  readonly #publicModel: string;
  readonly #meter: StreamMeter;
  /** Content of the items, from the events that end them. */
  readonly #items = new SizedText();
  /** The event that ends the response: its original frame and its parsed data. Null before it arrives. */
  #ending: { frame: Buffer; event: VendorEvent } | null = null;
  /** The first response object that the vendor has sent; null before it arrives. */
  #begun: Record<string, unknown> | null = null;
  #lastNumber = -1;

  constructor(publicModel: string, meter: StreamMeter) {
    this.#publicModel = publicModel;
    this.#meter = meter;
    meter.whole = this.#items;
  }

  get isDone(): boolean {
    return this.#ending !== null;
  }

  get isComplete(): boolean {
    return this.isDone;
  }

  forward(frame: Buffer, data: string, output: Uint8Array[]): null {
    const event: VendorEvent = parseVendorObject(data);
    const { type, response, sequence_number: number } = event;
    if (type === "response.failed") {
      const { error = null, usage } = isObject(response) ? response : {};
      this.#meter.report(readUsage(usage));
      throw reportedFailure(error);
    }
    if (type === "error" || event["error"]) throw reportedFailure(event);
    const member = MEMBERS.get(type);
    if (member !== undefined && !isObject(event[member]))
      throw new UpstreamError("broken", `an event without its ${member}`);
    this.#lastNumber = typeof number === "number" ? number : this.#lastNumber + 1;
    this.#count(event);
    if (ENDINGS.has(type)) {
      this.#readEnding(event);
      this.#ending = { frame, event };
      return null;
    }
    output.push(isObject(response) ? this.#publicFrame(frame, event, null) : neutralFrame(frame));
    if (isObject(response)) this.#begun ??= response;
    return null;
  }

  forwardComment(frame: Buffer, output: Uint8Array[]): void {
    output.push(commentsOf(frame));
  }

  end(): Uint8Array[] {
    if (!this.#ending) return [];
    const { frame, event } = this.#ending;
    return [this.#publicFrame(frame, event, this.#meter.usage(true))];
  }

  errorFrame(error: GatewayError): Uint8Array {
    const response = this.#begun && this.#failedResponse(this.#begun);
    return Buffer.from(failureFrames(error, response, this.#lastNumber + 1));
  }

  #count({ type, delta, item }: VendorEvent): void {
    if (typeof type !== "string") return;
    if (typeof delta === "string" && DELTA.test(type)) {
      this.#meter.pieces.add(delta);
    } else if (type === "response.output_item.added" && isCall(item)) {
      this.#meter.pieces.add(textOf(item["name"]));
      this.#meter.hasContent = true;
    } else if (type === "response.output_item.done") {
      addItem(this.#items, item);
      // Hidden reasoning is not content, so another vendor may still take over before the next item.
      if (!isReasoning(item)) this.#meter.hasContent = true;
    }
  }

  #readEnding({ response }: VendorEvent): void {
    if (!isObject(response)) throw new UpstreamError("broken", "a stream that ends without a response");
    const { usage, output } = response;
    // Some vendors omit `output`.
    const whole = Array.isArray(output) ? output : [];
    if (!isOutput(whole)) throw new UpstreamError("broken", "a stream that ends with an unreadable output");
    const items = new SizedText();
    for (const item of whole) addItem(items, item);
    if (items.eighths > this.#items.eighths) this.#meter.whole = items;
    this.#meter.hasContent = true;
    this.#meter.report(readUsage(usage));
  }

  /** Returns the caller's frame for an event with the response object. */
  #publicFrame(frame: Buffer, { response }: VendorEvent, usage: TokenUsage | null): Buffer {
    const neutral = neutralFrame(frame);
    if (!isObject(response)) return neutral;
    const isSame = response["model"] === this.#publicModel && response["store"] !== true;
    if (isSame && !(usage && isCorrected(usage))) return neutral;
    const text = neutral.toString("utf8");
    const data = frameData(neutral) ?? "";
    // Spaces can replace the line breaks in the data, which occur only between JSON tokens.
    const edited = editMembers(data.replaceAll("\n", " "), {
      response: (old) => old && publicResponse(old, response, this.#publicModel, usage),
    });
    const name = /^event:[^\r\n]*/m.exec(text)?.[0];
    return Buffer.from(`${name === undefined ? "" : `${name}\n`}data: ${edited}\n\n`);
  }

  #failedResponse(begun: Record<string, unknown>): Record<string, unknown> {
    return { ...begun, model: this.#publicModel, ...(begun["store"] === true && { store: false }) };
  }
}

function isReasoning(item: unknown): boolean {
  return isObject(item) && item["type"] === "reasoning";
}

function isCall(item: unknown): item is Record<string, unknown> {
  return isObject(item) && (item["type"] === "function_call" || item["type"] === "custom_tool_call");
}
