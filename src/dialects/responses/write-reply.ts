import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { Finish, Reply, ReplyEvent, ReplyWriter } from "../conversation/reply.ts";
import { eventsOf } from "../conversation/reply.ts";
import { sealSignature, type Signature } from "../conversation/signature.ts";
import { failureFrames, frame } from "./failure-frames.ts";
import { CallItem, MessageItem, newItemId, ReasoningItem } from "./output-items.ts";
import { signatureOfCall } from "./read-items.ts";
import type { ResponsesPayload } from "./request.ts";
import { ResponseObject } from "./response-object.ts";
import { ToolNames } from "./tool-names.ts";

/** The text of a whole response for the caller of a request. */
export function writeReply(reply: Reply, payload: ResponsesPayload, usage: TokenUsage): string {
  const writer = new ResponsesWriter(payload);
  for (const event of eventsOf(reply)) writer.write(event);
  return writer.response(usage);
}

/**
 * Writes a stream with the full order of events, numbered from 0: each item is opened before its pieces and closed
 * with its whole content, and the last event has all of the output. A call whose arguments are not whole is closed by
 * the end of the reply only, never by an error.
 */
export class ResponsesWriter implements ReplyWriter {
  readonly #object: ResponseObject;
  readonly #names: ToolNames;
  #hasBegun = false;
  #number = 0;
  /** Items in their order. */
  readonly #items: (MessageItem | ReasoningItem | CallItem)[] = [];
  readonly #calls = new Map<number, CallItem>();
  /** Calls that are not closed, and of them those whose arguments have grown since they were last looked at. */
  readonly #openCalls = new Set<CallItem>();
  readonly #grown = new Set<CallItem>();
  #open: MessageItem | ReasoningItem | null = null;
  #finish: Finish = { reason: "stop", stopSequence: null };

  constructor(payload: ResponsesPayload) {
    this.#object = new ResponseObject(payload);
    this.#names = new ToolNames(payload.parsed.body);
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        return this.#begin(event.id);
      case "text":
      case "refusal":
        return event.text === "" ? "" : this.#begin(null) + this.#addMessage(event.type, event.text);
      case "reasoning":
        return event.text === "" ? "" : this.#begin(null) + this.#addReasoning(event.text);
      case "signature":
        return this.#begin(null) + this.#sign(event.signature, event.isRedacted === true);
      case "call":
        return this.#begin(null) + this.#call(event);
      case "arguments":
        return this.#addArguments(event.call, event.text);
      case "finish":
        this.#finish = event.finish;
        return this.#begin(null) + this.#closeAll();
      case "use":
      case "usage":
        return "";
    }
  }

  end(usage: TokenUsage): string {
    const before = this.#begin(null) + this.#closeAll();
    const { reason } = this.#finish;
    const isCut = reason === "length" || reason === "refused";
    return (
      before + this.#lifecycle(isCut ? "response.incomplete" : "response.completed", this.response(usage))
    );
  }

  fail(error: GatewayError): string {
    return failureFrames(error, this.#hasBegun ? this.#object.value(this.#output()) : null, this.#number);
  }

  /** The text of the response object as it ended. */
  response(usage: TokenUsage): string {
    this.#begin(null);
    return this.#object.text({ kind: "ended", finish: this.#finish, usage }, this.#output());
  }

  #begin(vendorId: string | null): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    this.#object.begin(responseId(vendorId));
    const text = this.#object.text({ kind: "running" }, []);
    return this.#lifecycle("response.created", text) + this.#lifecycle("response.in_progress", text);
  }

  #addMessage(kind: "text" | "refusal", text: string): string {
    if (this.#open instanceof MessageItem) return this.#open.add(kind, text);
    const events = this.#closeBefore();
    const item = this.#add(new MessageItem(this.#emit, this.#items.length));
    this.#open = item;
    return events + item.open() + item.add(kind, text);
  }

  #addReasoning(text: string): string {
    if (this.#open instanceof ReasoningItem) return this.#open.add(text);
    const events = this.#closeBefore();
    const item = this.#add(new ReasoningItem(this.#emit, this.#items.length));
    this.#open = item;
    return events + item.open() + item.add(text);
  }

  #sign(signature: Signature, isRedacted: boolean): string {
    const sealed = sealSignature(signature, "responses");
    const open = this.#open;
    if (open instanceof ReasoningItem && !isRedacted) {
      this.#open = null;
      return open.close(sealed);
    }
    const events = this.#closeBefore();
    const item = this.#add(new ReasoningItem(this.#emit, this.#items.length));
    // Reasoning that is not shown has no summary; one whose text is empty has an empty one.
    return events + item.open() + (isRedacted ? "" : item.add("")) + item.close(sealed);
  }

  #call(event: Extract<ReplyEvent, { type: "call" }>): string {
    // Calls have no place for a signature, so it goes before its call.
    const signed = event.signature ? this.#sign(signatureOfCall(event.signature), true) : "";
    const events = signed + this.#closeBefore();
    const item = this.#add(new CallItem(this.#emit, this.#items.length, event, this.#names));
    this.#calls.set(event.call, item);
    this.#openCalls.add(item);
    return events + item.open();
  }

  #addArguments(call: number, text: string): string {
    const item = this.#calls.get(call);
    if (!item) return "";
    if (this.#openCalls.has(item)) this.#grown.add(item);
    return item.add(text);
  }

  #add<Item extends MessageItem | ReasoningItem | CallItem>(item: Item): Item {
    this.#items.push(item);
    return item;
  }

  /** Ends what comes before another item. Calls whose arguments may go on stay open. */
  #closeBefore(): string {
    let events = this.#open?.close() ?? "";
    this.#open = null;
    for (const call of this.#grown) if (call.isWhole) events += this.#closeCall(call);
    this.#grown.clear();
    return events;
  }

  #closeAll(): string {
    let events = this.#open?.close() ?? "";
    this.#open = null;
    for (const call of this.#openCalls) events += this.#closeCall(call);
    this.#grown.clear();
    return events;
  }

  #closeCall(call: CallItem): string {
    this.#openCalls.delete(call);
    return call.close();
  }

  #output(): object[] {
    return this.#items.flatMap(({ done }) => (done ? [done] : []));
  }

  #lifecycle(type: string, response: string): string {
    return frame(type, `{"type":"${type}","sequence_number":${this.#number++},"response":${response}}`);
  }

  readonly #emit = (type: string, fields: object): string =>
    frame(type, JSON.stringify({ type, sequence_number: this.#number++, ...fields }));
}

/** Made from the vendor's id, so that both logs have it. */
function responseId(vendorId: string | null): string {
  const known = vendorId?.replace(/[^\w-]/g, "").slice(0, 64) ?? "";
  if (known === "") return newItemId("resp");
  return known.startsWith("resp_") ? known : `resp_${known}`;
}
