import type { Feature } from "../../domain/feature.ts";
import type { TokenUsage, UsageReport } from "../../domain/usage.ts";
import type { GatewayError } from "../../domain/gateway-error.ts";
import type { AssistantPart, ReasoningPart, ToolCall } from "./request.ts";
import type { TokenLogprob } from "./logprobs.ts";
import type { Signature } from "./signature.ts";

/** The reason why a reply ended. `refused` means that a safety policy of the model or vendor stopped the reply. */
export type FinishReason = "stop" | "length" | "tool_calls" | "refused";

export interface Finish {
  reason: FinishReason;
  /** The caller's stop sequence that ended the reply; null if there was none or the vendor does not report it. */
  stopSequence: string | null;
}

/** A whole reply in the neutral form, which is independent of protocols. */
export interface Reply {
  /** The vendor's id of the reply; null if the vendor sent no id. */
  id: string | null;
  parts: readonly AssistantPart[];
  finish: Finish;
  report: UsageReport | null;
  /** Features with results in the reply. Each use of a feature has its own entry. */
  uses?: readonly Feature[];
  /** Log probabilities of the reply's text. Absent or empty when the caller did not request them. */
  logprobs?: readonly TokenLogprob[];
  /** True when the reply also has content that the neutral form cannot express. */
  hasOther?: boolean;
}

/**
 * A piece of a reply. Reasoning, signatures, text and tool calls arrive in the order of the reply's parts. A signature
 * ends the piece of reasoning before it. Arguments of several tool calls may be interleaved.
 */
export type ReplyEvent =
  | { type: "start"; id: string | null }
  /** `isRepeat` is true when an earlier event already had the same text with another type. */
  | { type: "text" | "refusal" | "reasoning"; text: string; isRepeat?: true }
  /** Log probabilities of the text in the next events. */
  | { type: "logprobs"; tokens: readonly TokenLogprob[] }
  | { type: "signature"; signature: Signature; isRedacted?: true }
  | { type: "call"; call: number; id: string; name: string; kind: ToolCall["kind"]; signature?: Signature }
  | { type: "arguments"; call: number; text: string }
  | { type: "finish"; finish: Finish }
  /** One use of a feature whose uses are counted (`COUNTED_FEATURES`). */
  | { type: "use"; feature: Feature }
  /** The vendor's usage so far. The last report replaces all earlier reports. */
  | { type: "usage"; report: UsageReport }
  /** Content that the neutral form cannot express. */
  | { type: "other" };

/** Reads a vendor's stream. */
export interface ReplyReader {
  /** True after the vendor's end mark. Later events are not part of the reply. */
  readonly isDone: boolean;
  /** True when the reply is complete, so that the stream may end. */
  readonly isComplete: boolean;
  /** Reads the data of an event. Throws an `UpstreamError` for an error event and for data outside the protocol. */
  read(data: string): Iterable<ReplyEvent>;
}

/** Writes the caller's stream as text. A returned text consists of complete frames, or is empty. */
export interface ReplyWriter {
  write(event: ReplyEvent): string;
  /** Returns the last frames of a complete reply, with the billed usage. */
  end(usage: TokenUsage): string;
  /** Returns the frames with the error. These frames replace the normal end of the stream. */
  fail(error: GatewayError): string;
}

/** Collects the events of a stream into a whole reply. */
export function collectReply(events: Iterable<ReplyEvent>): Reply {
  const collected = new CollectedReply();
  for (const event of events) collected.add(event);
  return collected;
}

class CollectedReply implements Reply {
  id: string | null = null;
  readonly parts: AssistantPart[] = [];
  finish: Finish = { reason: "stop", stopSequence: null };
  report: UsageReport | null = null;
  readonly uses: Feature[] = [];
  readonly logprobs: TokenLogprob[] = [];
  hasOther = false;
  readonly #calls = new Map<number, ToolCall>();

  add(event: ReplyEvent): void {
    switch (event.type) {
      case "start":
        this.id ??= event.id;
        return;
      case "text":
      case "refusal":
      case "reasoning":
        return this.#append(event.type, event.text);
      case "logprobs":
        for (const token of event.tokens) this.logprobs.push(token);
        return;
      case "signature":
        return this.#sign(event.signature, event.isRedacted);
      case "call": {
        const { type: _, call, ...named } = event;
        const part: ToolCall = { type: "tool_call", ...named, arguments: "" };
        this.#calls.set(call, part);
        this.parts.push(part);
        return;
      }
      case "arguments": {
        const call = this.#calls.get(event.call);
        if (call) call.arguments += event.text;
        return;
      }
      case "finish":
        this.finish = event.finish;
        return;
      case "use":
        this.uses.push(event.feature);
        return;
      case "other":
        this.hasOther = true;
        return;
      case "usage":
        this.report = event.report;
    }
  }

  #append(type: "text" | "refusal" | "reasoning", text: string): void {
    const last = this.parts.at(-1);
    if (last?.type === type && !(last.type === "reasoning" && last.signature)) last.text += text;
    else if (type === "reasoning") this.parts.push({ type, text, signature: null });
    else this.parts.push({ type, text });
  }

  #sign(signature: Signature, isRedacted: true | undefined): void {
    const last = this.parts.at(-1);
    if (!isRedacted && last?.type === "reasoning" && !last.signature) last.signature = signature;
    else {
      const part: ReasoningPart = { type: "reasoning", text: "", signature };
      this.parts.push(isRedacted ? { ...part, isRedacted } : part);
    }
  }
}

/** Yields the events in which a stream would deliver this whole reply. */
export function* eventsOf({
  id,
  parts,
  finish,
  report,
  uses = [],
  logprobs = [],
  hasOther = false,
}: Reply): Generator<ReplyEvent, void> {
  yield { type: "start", id };
  if (logprobs.length > 0) yield { type: "logprobs", tokens: logprobs };
  let calls = 0;
  for (const part of parts) {
    if (part.type === "tool_call") {
      const { id: callId, name, kind, signature } = part;
      const call = calls++;
      yield { type: "call", call, id: callId, name, kind, ...(signature && { signature }) };
      if (part.arguments !== "") yield { type: "arguments", call, text: part.arguments };
    } else if (part.type === "reasoning") {
      const { text, signature, isRedacted } = part;
      if (text !== "") yield { type: "reasoning", text };
      if (signature) yield { type: "signature", signature, ...(isRedacted && { isRedacted }) };
    } else yield { type: part.type, text: part.text };
  }
  for (const feature of uses) yield { type: "use", feature };
  if (hasOther) yield { type: "other" };
  yield { type: "finish", finish };
  if (report) yield { type: "usage", report };
}
