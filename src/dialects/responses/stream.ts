import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy, type UsageReport } from "../../domain/usage.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { frameData } from "../../lib/sse.ts";
import { commentsOf, neutralFrame } from "../sse/vendor-words.ts";
import type { TextStream } from "../dialect.ts";
import { observe, SizedText } from "../sized-text.ts";
import { addItem } from "./content.ts";
import { failureFrames } from "./failure-frames.ts";
import { isOutput, publicResponse } from "./reply.ts";
import { readUsage } from "./usage.ts";
import { reportedFailure } from "./vendor-failure.ts";
import { parseVendorObject, VendorFrames } from "../sse/vendor-frames.ts";

/** An event of a vendor, parsed. */
type VendorEvent = Record<string, unknown>;

/** Events that end a response as it was meant to end (OpenAI responses reference, streaming events). */
const ENDINGS: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);
/** What official clients read of an event without a check. */
const MEMBERS: ReadonlyMap<unknown, string> = new Map([
  ["response.created", "response"],
  ["response.in_progress", "response"],
  ["response.output_item.added", "item"],
  ["response.output_item.done", "item"],
  ["response.content_part.added", "part"],
  ["response.content_part.done", "part"],
]);
/** Events with a piece of what the model wrote. */
const DELTA = /^response\.[a-z_]+(?:\.[a-z_]+)*\.delta$/;

/**
 * Relays a responses stream from an upstream of the same dialect. Frames pass as the bytes they came in, but for what
 * `publicResponse` changes in those that hold the response object. The last event is held back until it is settled.
 */
export class ResponsesStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #publicModel: string;
  readonly #policy: UsagePolicy;
  #report: UsageReport | null = null;
  /** The pieces so far, and the items that came whole. */
  readonly #pieces = new SizedText();
  #items = new SizedText();
  /** The last event as it came, and parsed. */
  #ending: { frame: Buffer; event: VendorEvent } | null = null;
  /** The response object as the vendor began it. */
  #begun: Record<string, unknown> | null = null;
  #lastNumber = -1;

  hasContent = false;

  constructor(publicModel: string, policy: UsagePolicy) {
    this.#publicModel = publicModel;
    this.#policy = policy;
  }

  get isDone(): boolean {
    return this.#ending !== null || this.#frames.hasFailed;
  }

  push(chunk: Uint8Array): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.read(chunk, this.hasContent, (frame) => {
      if (!this.isDone) this.#readFrame(frame, output);
    });
    return output.length === 1 && output[0] ? output[0] : Buffer.concat(output);
  }

  end(): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.end((frame) => {
      if (!this.isDone) this.#readFrame(frame, output);
    });
    if (!this.#ending) throw new UpstreamError("broken", "the stream was cut");
    const { frame, event } = this.#ending;
    output.push(this.#publicFrame(frame, event, this.usage()));
    return Buffer.concat(output);
  }

  usage(): TokenUsage {
    const delivered = this.#items.eighths > this.#pieces.eighths ? this.#items : this.#pieces;
    return this.#policy(observe(this.#report, delivered, this.#ending !== null && !this.#frames.hasFailed));
  }

  errorFrame(error: GatewayError): Uint8Array {
    const frames = failureFrames(
      error,
      this.#begun && this.#failedResponse(this.#begun),
      this.#lastNumber + 1,
    );
    return Buffer.from(frames);
  }

  #readFrame(frame: Buffer, output: Uint8Array[]): void {
    const data = frameData(frame);
    if (!data) {
      output.push(commentsOf(frame));
      return;
    }
    const event: VendorEvent = parseVendorObject(data);
    const { type, response, sequence_number: number } = event;
    if (type === "response.failed") {
      const { error = null, usage } = isObject(response) ? response : {};
      this.#report = readUsage(usage);
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
      return;
    }
    output.push(isObject(response) ? this.#publicFrame(frame, event, null) : neutralFrame(frame));
    if (isObject(response)) this.#begun ??= response;
  }

  #count({ type, delta, item }: VendorEvent): void {
    if (typeof type !== "string") return;
    if (typeof delta === "string" && DELTA.test(type)) {
      this.#pieces.add(delta);
      if (delta !== "") this.hasContent = true;
    } else if (type === "response.output_item.added" && isCall(item)) {
      this.#pieces.add(textOf(item["name"]));
      this.hasContent = true;
    } else if (type === "response.output_item.done") {
      const { eighths } = this.#items;
      addItem(this.#items, item);
      // Thoughts that are not shown are followed by what they are for; until then another vendor may answer.
      if (this.#items.eighths > eighths || !isReasoning(item)) this.hasContent = true;
    }
  }

  #readEnding({ response }: VendorEvent): void {
    if (!isObject(response)) throw new UpstreamError("broken", "a stream that ends without a response");
    const { usage, output } = response;
    // Some vendors leave it out.
    const whole = Array.isArray(output) ? output : [];
    if (!isOutput(whole)) throw new UpstreamError("broken", "a stream that ends with an unreadable output");
    this.#report = readUsage(usage);
    const items = new SizedText();
    for (const item of whole) addItem(items, item);
    if (items.eighths > this.#items.eighths) this.#items = items;
    this.hasContent = true;
  }

  /** The frame of an event with a response object. */
  #publicFrame(frame: Buffer, { response }: VendorEvent, usage: TokenUsage | null): Buffer {
    const neutral = neutralFrame(frame);
    if (!isObject(response)) return neutral;
    const isSame = response["model"] === this.#publicModel && response["store"] !== true;
    if (isSame && !(usage && isCorrected(usage))) return neutral;
    const text = neutral.toString("utf8");
    const data = frameData(neutral) ?? "";
    // Line ends in the data stand between JSON tokens only.
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
