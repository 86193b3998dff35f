import type { GatewayError } from "../../../domain/gateway-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy } from "../../../domain/usage.ts";
import { editMembers } from "../../../lib/json-edit.ts";
import type { TextStream } from "../../dialect.ts";
import { ForwardedStream, type FrameForwarder } from "../../sse/forwarded-stream.ts";
import { NativeReader } from "./read-reply.ts";
import { StreamMeter } from "../../stream-meter.ts";
import { writeError } from "../error.ts";
import { addCandidate, blockReasonOf, candidatesOf, finishReasonOf, parseEvent } from "./event.ts";
import { publicName } from "./forward.ts";
import { correctedUsage, readUsage, showsBilled, writeUsage } from "./usage.ts";

/**
 * Returns a stream of a vendor with the same protocol. Changes the model name. At the end, corrects usage that differs
 * from the billed usage. The protocol has no end mark: a reply is complete when every candidate has a finish reason or
 * the prompt was blocked.
 */
export function openStream(publicModel: string, policy: UsagePolicy): TextStream {
  const meter = new StreamMeter(policy);
  return new ForwardedStream(new NativeForwarder(publicModel, meter), meter, () => new NativeReader());
}

class NativeForwarder implements FrameForwarder {
  readonly #publicModel: string;
  readonly #meter: StreamMeter;
  #lastEvent: Record<string, unknown> = {};
  #isBlocked = false;
  /** The last usage that the caller has received. */
  #shown: unknown = undefined;

  readonly isDone = false;

  constructor(publicModel: string, meter: StreamMeter) {
    this.#publicModel = publicModel;
    this.#meter = meter;
  }

  get isComplete(): boolean {
    return this.#isBlocked || this.#meter.haveChoicesEnded;
  }

  forward(frame: Buffer, data: string, output: Uint8Array[]): null {
    const event = parseEvent(data);
    for (const candidate of candidatesOf(event)) this.#readCandidate(candidate);
    if (blockReasonOf(event) !== null) this.#meter.hasContent = this.#isBlocked = true;
    // Counts are cumulative, so only the last usage is billed.
    this.#meter.report(readUsage(event["usageMetadata"]));
    this.#lastEvent = event;
    output.push(this.#write(frame, data, event));
    return null;
  }

  /** Drops comments. Official clients lose an event that follows a comment without a blank line (Google Gen AI SDK). */
  forwardComment(): void {}

  end(): Uint8Array[] {
    const usage = this.#meter.usage(true);
    return showsBilled(this.#shown, usage) ? [] : [this.#ownUsageFrame(usage)];
  }

  errorFrame(error: GatewayError): Uint8Array {
    return frameOf(JSON.stringify(writeError(error)));
  }

  #readCandidate(candidate: Record<string, unknown>): void {
    const { index = 0 } = candidate;
    addCandidate(this.#meter.pieces, candidate);
    this.#meter.noteChoice(index, finishReasonOf(candidate) !== null);
  }

  #write(frame: Buffer, data: string, event: Record<string, unknown>): Uint8Array {
    const { usageMetadata: reported } = event;
    const usage = this.isComplete && reported !== undefined ? this.#meter.usage(true) : null;
    const correction = usage && (isCorrected(usage) || !showsBilled(reported, usage)) ? usage : null;
    if (reported !== undefined) this.#shown = correction ? writeUsage(correction) : reported;
    const edits = {
      ...publicName(event, this.#publicModel),
      ...(correction && { usageMetadata: (old: string | undefined) => correctedUsage(old, correction) }),
    };
    if (Object.keys(edits).length > 0) return frameOf(editMembers(data.replaceAll("\n", " "), edits));
    // Official clients only read events with a single line that starts with `data:`.
    return ONE_LINE.test(frame.toString("latin1")) ? frame : frameOf(data.replaceAll("\n", " "));
  }

  /** Returns an event with only usage, sent when the vendor's usage is missing or differs from the billed usage. */
  #ownUsageFrame(usage: TokenUsage): Uint8Array {
    const { responseId } = this.#lastEvent;
    const body = { usageMetadata: writeUsage(usage), modelVersion: this.#publicModel, responseId };
    return frameOf(JSON.stringify(body));
  }
}

const ONE_LINE = /^data:[^\r\n]*(?:\r\n\r\n|\n\n|\r\r)$/;

function frameOf(data: string): Uint8Array {
  return Buffer.from(`data: ${data}\n\n`);
}
