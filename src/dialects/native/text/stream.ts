import type { GatewayError } from "../../../domain/gateway-error.ts";
import { UpstreamError } from "../../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy, type UsageReport } from "../../../domain/usage.ts";
import { editMembers } from "../../../lib/json-edit.ts";
import { frameData } from "../../../lib/sse.ts";
import type { TextStream } from "../../dialect.ts";
import { observe, SizedText } from "../../sized-text.ts";
import { writeError } from "../error.ts";
import { blockReasonOf, addCandidate, candidatesOf, finishReasonOf } from "./content.ts";
import { parseEvent } from "./events.ts";
import { publicName } from "./reply.ts";
import { correctedUsage, readUsage, showsBilled, writeUsage } from "./usage.ts";
import { VendorFrames } from "../../sse/vendor-frames.ts";

/**
 * Relays a stream from a vendor of the same protocol. Frames pass as the bytes they came in, but for the model name
 * and, at the end, usage that is not what is billed. The protocol has no end mark: a reply is whole when every
 * candidate has a reason to end, or the prompt was blocked.
 */
export class NativeStream implements TextStream {
  readonly #frames = new VendorFrames();
  readonly #publicModel: string;
  readonly #policy: UsagePolicy;
  #report: UsageReport | null = null;
  #lastEvent: Record<string, unknown> = {};
  readonly #delivered = new SizedText();
  /** Estimated size of the content up to the last report. */
  #reportedEighths = 0;
  /** Candidates by their index: those that have begun and not ended, and those that have ended. */
  readonly #running = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  #isBlocked = false;
  /** The usage that the caller was shown last. */
  #shown: unknown = undefined;

  hasContent = false;
  isDone = false;

  constructor(publicModel: string, policy: UsagePolicy) {
    this.#publicModel = publicModel;
    this.#policy = policy;
  }

  push(chunk: Uint8Array): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.read(chunk, this.hasContent, (frame) => {
      if (!this.isDone) output.push(this.#readFrame(frame));
    });
    if (this.#frames.hasFailed) this.isDone = true;
    return output.length === 1 && output[0] ? output[0] : Buffer.concat(output);
  }

  end(): Uint8Array {
    const output: Uint8Array[] = [];
    this.#frames.end((frame) => output.push(this.#readFrame(frame)));
    if (!this.#isComplete()) throw new UpstreamError("broken", "the stream was cut");
    const usage = this.usage();
    if (!showsBilled(this.#shown, usage)) output.push(this.#ownUsageFrame(usage));
    return Buffer.concat(output);
  }

  usage(): TokenUsage {
    const isReportFinal = this.#isComplete() && this.#reportedEighths === this.#delivered.eighths;
    const delivered = this.#delivered;
    return this.#policy(observe(this.#report, delivered, isReportFinal));
  }

  errorFrame(error: GatewayError): Uint8Array {
    return frameOf(JSON.stringify(writeError(error)));
  }

  #isComplete(): boolean {
    if (this.#frames.hasFailed) return false;
    return this.#isBlocked || (this.#ended.size > 0 && this.#running.size === 0);
  }

  #readFrame(frame: Buffer): Uint8Array {
    const data = frameData(frame);
    // Comments are for the gateway: official clients lose an event that one is glued to (Google Gen AI SDK).
    if (data === null || data === "") return NOTHING;
    const event = parseEvent(data);
    for (const candidate of candidatesOf(event)) this.#readCandidate(candidate);
    if (blockReasonOf(event) !== null) this.hasContent = this.#isBlocked = true;
    this.#readReport(event["usageMetadata"]);
    this.#lastEvent = event;
    return this.#write(frame, data, event);
  }

  #readCandidate(candidate: Record<string, unknown>): void {
    const { index = 0 } = candidate;
    const { eighths } = this.#delivered;
    addCandidate(this.#delivered, candidate);
    if (finishReasonOf(candidate) !== null) {
      this.#ended.add(index);
      this.#running.delete(index);
      this.hasContent = true;
    } else if (!this.#ended.has(index)) this.#running.add(index);
    if (this.#delivered.eighths > eighths) this.hasContent = true;
  }

  /** Counts are cumulative, so the last report counts, unless it has nothing usable and an earlier one has. */
  #readReport(value: unknown): void {
    const report = readUsage(value);
    if (!report || (this.#report && !report.hasInput && !report.hasOutput)) return;
    this.#report = report;
    this.#reportedEighths = this.#delivered.eighths;
  }

  #write(frame: Buffer, data: string, event: Record<string, unknown>): Uint8Array {
    const { usageMetadata: reported } = event;
    const usage = this.#isComplete() && reported !== undefined ? this.usage() : null;
    const correction = usage && (isCorrected(usage) || !showsBilled(reported, usage)) ? usage : null;
    if (reported !== undefined) this.#shown = correction ? writeUsage(correction) : reported;
    const edits = {
      ...publicName(event, this.#publicModel),
      ...(correction && { usageMetadata: (old: string | undefined) => correctedUsage(old, correction) }),
    };
    if (Object.keys(edits).length > 0) return frameOf(editMembers(data.replaceAll("\n", " "), edits));
    // Official clients take an event on one line that begins its block.
    return ONE_LINE.test(frame.toString("latin1")) ? frame : frameOf(data.replaceAll("\n", " "));
  }

  /** Usage in an event of its own, where the vendor reported none or none that is billed. */
  #ownUsageFrame(usage: TokenUsage): Uint8Array {
    const { responseId } = this.#lastEvent;
    const body = { usageMetadata: writeUsage(usage), modelVersion: this.#publicModel, responseId };
    return frameOf(JSON.stringify(body));
  }
}

const NOTHING = new Uint8Array(0);
const ONE_LINE = /^data:[^\r\n]*(?:\r\n\r\n|\n\n|\r\r)$/;

function frameOf(data: string): Uint8Array {
  return Buffer.from(`data: ${data}\n\n`);
}
