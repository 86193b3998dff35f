import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { systemClock } from "../../lib/clock.ts";
import { isObject } from "../../lib/json.ts";
import {
  eventsOf,
  type Finish,
  type Reply,
  type ReplyEvent,
  type ReplyWriter,
} from "../conversation/reply.ts";
import type { TokenLogprob } from "../conversation/logprobs.ts";
import { sealSignature, type Signature } from "../conversation/signature.ts";
import { failureFrames, frame } from "./error.ts";
import { CallItem, MessageItem, newItemId, ReasoningItem } from "./output-items.ts";
import { signatureOfCall } from "./read-items.ts";
import type { ResponsesPayload } from "./request.ts";
import { ToolNames } from "./tools.ts";
import { writeUsage } from "./usage.ts";

/** Returns the text of a whole response for the caller of a request. */
export function writeReply(reply: Reply, payload: ResponsesPayload, usage: TokenUsage): string {
  const writer = new ResponsesWriter(payload);
  for (const event of eventsOf(reply)) writer.write(event);
  return writer.response(usage);
}

/**
 * Writes a stream with the events of the protocol, numbered from 0. Each item is opened before its pieces and closed
 * with its whole content. The last event of a complete reply contains the whole output. A tool call with incomplete
 * arguments is closed only at the normal end of the reply, not after an error.
 */
export class ResponsesWriter implements ReplyWriter {
  readonly #object: ResponseObject;
  readonly #names: ToolNames;
  #hasBegun = false;
  #number = 0;
  /** Items of the output, in order. */
  readonly #items: (MessageItem | ReasoningItem | CallItem)[] = [];
  readonly #calls = new Map<number, CallItem>();
  /** Open tool calls. `#grown` has the calls whose arguments have grown since the last check. */
  readonly #openCalls = new Set<CallItem>();
  readonly #grown = new Set<CallItem>();
  #open: MessageItem | ReasoningItem | null = null;
  #finish: Finish = { reason: "stop", stopSequence: null };
  /** Log probabilities of the next text. */
  #logprobs: readonly TokenLogprob[] = [];

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
      case "logprobs":
        this.#logprobs = [...this.#logprobs, ...event.tokens];
        return "";
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
      case "other":
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

  /** Begins the stream first if nothing was sent, because some clients read only `response.failed`. */
  fail(error: GatewayError): string {
    const begun = this.#begin(null);
    return begun + failureFrames(error, this.#object.value(this.#output()), this.#number);
  }

  /** Returns the text of the response object of an ended reply. */
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
    const logprobs = kind === "text" ? this.#logprobs : [];
    if (kind === "text") this.#logprobs = [];
    if (this.#open instanceof MessageItem) return this.#open.add(kind, text, logprobs);
    const events = this.#closeBefore();
    const item = this.#add(new MessageItem(this.#emit, this.#items.length));
    this.#open = item;
    return events + item.open() + item.add(kind, text, logprobs);
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
    // Hidden reasoning has no summary, but reasoning with an empty text has a summary with an empty text.
    return events + item.open() + (isRedacted ? "" : item.add("")) + item.close(sealed);
  }

  #call(event: Extract<ReplyEvent, { type: "call" }>): string {
    // Tool calls have no field for a signature, so an item before the call contains the signature.
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

  /** Closes the items that must be complete before the next item. Calls with incomplete arguments stay open. */
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

/** Returns an id that contains the vendor's id, if there is one, so that both sides log the vendor's id. */
function responseId(vendorId: string | null): string {
  const known = vendorId?.replace(/[^\w-]/g, "").slice(0, 64) ?? "";
  if (known === "") return newItemId("resp");
  return known.startsWith("resp_") ? known : `resp_${known}`;
}

/** The state of a response: running, or ended with a finish reason and usage. */
type ResponseState = { kind: "running" } | { kind: "ended"; finish: Finish; usage: TokenUsage };

/**
 * The response object of a translated reply. It has all fields that the published schema requires, and repeats values
 * of the request (OpenAI responses reference).
 */
class ResponseObject {
  readonly #model: string;
  readonly #echo: string;
  #head = "";

  constructor({ parsed }: ResponsesPayload) {
    this.#model = parsed.model;
    this.#echo = fields(echoOf(parsed.body));
  }

  /** Sets the id of the response. Call this method before all other methods. */
  begin(id: string): void {
    const createdAt = Math.floor(systemClock.now() / 1000);
    this.#head = fields({ id, object: "response", created_at: createdAt, model: this.#model });
  }

  /** Returns the response object's text. Its constant parts are converted only once: they may contain large tools. */
  text(state: ResponseState, output: readonly object[]): string {
    return `{${this.#head},${fields(stateFields(state))},${fields({ output })},${this.#echo}}`;
  }

  /** Returns the object of a running response. */
  value(output: readonly object[]): Record<string, unknown> {
    return JSON.parse(this.text({ kind: "running" }, output)) as Record<string, unknown>;
  }
}

function stateFields(state: ResponseState): object {
  if (state.kind === "running")
    return {
      status: "in_progress",
      completed_at: null,
      error: null,
      incomplete_details: null,
    };
  const { finish, usage } = state;
  const cut =
    finish.reason === "length" ? "max_output_tokens" : finish.reason === "refused" ? "content_filter" : null;
  return {
    status: cut === null ? "completed" : "incomplete",
    completed_at: cut === null ? Math.floor(systemClock.now() / 1000) : null,
    error: null,
    incomplete_details: cut === null ? null : { reason: cut },
    usage: writeUsage(usage),
  };
}

/** Returns the fields of the response that repeat the request or are always the same. */
function echoOf(body: Readonly<Record<string, unknown>>): object {
  const text = isObject(body["text"]) ? body["text"] : {};
  const reasoning = isObject(body["reasoning"]) ? body["reasoning"] : {};
  return {
    access_programs: null,
    background: false,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: "default",
    store: false,
    temperature: body["temperature"] ?? 1,
    text: { ...text, format: text["format"] ?? { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: Array.isArray(body["tools"]) ? body["tools"].map(toolOf) : [],
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    ...(typeof body["user"] === "string" && { user: body["user"] }),
  };
}

/** Returns the tool. A function gets the fields that it must have in a response. */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  return { ...tool, parameters: tool["parameters"] ?? null, strict: tool["strict"] ?? null };
}

/** Returns the JSON text of an object's fields without the braces. */
function fields(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}
