import { GrowingObject, isJson } from "../../lib/growing-object.ts";
import type { TokenLogprob } from "../conversation/logprobs.ts";
import type { ReplyEvent } from "../conversation/reply.ts";
import { FOREIGN_REASONING_PREFIX } from "./forward.ts";
import type { ToolNames } from "./tools.ts";

/** A function that returns the text of an event with the next sequence number. */
type Emit = (type: string, fields: object) => string;

/** An item of the output that is being written. Its events have the order that official clients check. */
interface OpenItem {
  readonly index: number;
  /** Returns the last events of the item. */
  close(): string;
  /** The item as its last event contains it; null until the item is closed. */
  readonly done: object | null;
}

/** Returns a new unique id. */
export function newItemId(prefix: string): string {
  return `${prefix}_${Bun.randomUUIDv7("buffer").toString("hex")}`;
}

type Logprobs = readonly object[];

const PARTS = {
  text: {
    event: "response.output_text",
    part: (text: string, logprobs: Logprobs) => ({ type: "output_text", text, annotations: [], logprobs }),
    delta: (logprobs: Logprobs) => ({ logprobs }),
    done: (text: string, logprobs: Logprobs) => ({ text, logprobs }),
  },
  refusal: {
    event: "response.refusal",
    part: (text: string) => ({ type: "refusal", refusal: text }),
    delta: () => ({}),
    done: (text: string) => ({ refusal: text }),
  },
} as const;

/** A message of the model, whose parts are texts and refusals. */
export class MessageItem implements OpenItem {
  readonly #emit: Emit;
  readonly #id = newItemId("msg");
  readonly #content: object[] = [];
  #kind: keyof typeof PARTS | null = null;
  #text = "";
  #logprobs: object[] = [];
  done: object | null = null;

  constructor(
    emit: Emit,
    readonly index: number,
  ) {
    this.#emit = emit;
  }

  open(): string {
    return this.#emit("response.output_item.added", {
      output_index: this.index,
      item: this.#item("in_progress"),
    });
  }

  add(kind: keyof typeof PARTS, text: string, tokens: readonly TokenLogprob[] = []): string {
    let events = "";
    if (this.#kind !== kind) {
      events += this.#closePart();
      this.#kind = kind;
      events += this.#emit("response.content_part.added", {
        ...this.#position(),
        part: PARTS[kind].part("", []),
      });
    }
    this.#text += text;
    const logprobs = tokens.map(writeLogprob);
    for (const each of logprobs) this.#logprobs.push(each);
    const { event, delta } = PARTS[kind];
    return events + this.#emit(`${event}.delta`, { ...this.#position(), delta: text, ...delta(logprobs) });
  }

  close(): string {
    const events = this.#closePart();
    this.done = this.#item("completed");
    return events + this.#emit("response.output_item.done", { output_index: this.index, item: this.done });
  }

  #closePart(): string {
    if (!this.#kind) return "";
    const { event, part, done } = PARTS[this.#kind];
    const ended = part(this.#text, this.#logprobs);
    const events =
      this.#emit(`${event}.done`, { ...this.#position(), ...done(this.#text, this.#logprobs) }) +
      this.#emit("response.content_part.done", { ...this.#position(), part: ended });
    this.#content.push(ended);
    this.#kind = null;
    this.#text = "";
    this.#logprobs = [];
    return events;
  }

  #position(): object {
    return { item_id: this.#id, output_index: this.index, content_index: this.#content.length };
  }

  #item(status: string): object {
    return { id: this.#id, type: "message", status, role: "assistant", content: [...this.#content] };
  }
}

/**
 * Returns a token's log probability. Adds missing `bytes` to the token and to each alternative, because the protocol
 * requires this field (OpenAI responses reference).
 */
function writeLogprob({ bytes, top_logprobs: alternatives, ...token }: TokenLogprob): object {
  return {
    ...token,
    bytes: bytes ?? [],
    top_logprobs: alternatives.map((each) => ({ ...each, bytes: each.bytes ?? [] })),
  };
}

/** A piece of reasoning. Its text becomes a summary. Its signature becomes encrypted content. */
export class ReasoningItem implements OpenItem {
  readonly #emit: Emit;
  readonly #id = newItemId(FOREIGN_REASONING_PREFIX);
  /** Text of the summary; null when there is no summary. */
  #text: string | null = null;
  done: object | null = null;

  constructor(
    emit: Emit,
    readonly index: number,
  ) {
    this.#emit = emit;
  }

  open(): string {
    return this.#emit("response.output_item.added", { output_index: this.index, item: this.#item() });
  }

  add(text: string): string {
    const part = { type: "summary_text", text: "" };
    const events =
      this.#text === null
        ? this.#emit("response.reasoning_summary_part.added", { ...this.#position(), part })
        : "";
    this.#text = (this.#text ?? "") + text;
    if (text === "") return events;
    return events + this.#emit("response.reasoning_summary_text.delta", { ...this.#position(), delta: text });
  }

  close(encrypted: string | null = null): string {
    let events = "";
    const text = this.#text;
    if (text !== null) {
      const part = { type: "summary_text", text };
      events += this.#emit("response.reasoning_summary_text.done", { ...this.#position(), text });
      events += this.#emit("response.reasoning_summary_part.done", { ...this.#position(), part });
    }
    this.done = { ...this.#item(), ...(encrypted !== null && { encrypted_content: encrypted }) };
    return events + this.#emit("response.output_item.done", { output_index: this.index, item: this.done });
  }

  #position(): object {
    return { item_id: this.#id, output_index: this.index, summary_index: 0 };
  }

  #item(): object {
    const summary = this.#text === null ? [] : [{ type: "summary_text", text: this.#text }];
    return { id: this.#id, type: "reasoning", summary };
  }
}

type CallEvent = Extract<ReplyEvent, { type: "call" }>;

/** A call of a function or a custom tool. */
export class CallItem implements OpenItem {
  readonly #emit: Emit;
  readonly #isCustom: boolean;
  readonly #id: string;
  readonly #named: Readonly<Record<string, string>>;
  readonly #text = new GrowingObject();
  #hasBecomeWhole = false;
  done: object | null = null;

  constructor(
    emit: Emit,
    readonly index: number,
    { id, name, kind }: CallEvent,
    names: ToolNames,
  ) {
    this.#emit = emit;
    this.#isCustom = kind === "custom";
    this.#id = newItemId(this.#isCustom ? "ctc" : "fc");
    const tool = names.split(name);
    this.#named = {
      call_id: id,
      name: tool.name,
      ...(tool.namespace !== null && { namespace: tool.namespace }),
    };
  }

  /** True when the arguments may be complete. Always false for a custom tool, whose input has no end mark. */
  get isWhole(): boolean {
    return !this.#isCustom && this.#hasBecomeWhole;
  }

  open(): string {
    return this.#emit("response.output_item.added", {
      output_index: this.index,
      item: this.#item("in_progress"),
    });
  }

  add(text: string): string {
    if (this.done || text === "") return "";
    if (this.#text.add(text)) this.#hasBecomeWhole = true;
    return this.#emit(`${this.#event()}.delta`, { ...this.#position(), delta: text });
  }

  close(): string {
    // A function without parameters may be called with an empty text, which clients could not parse.
    const events = this.#text.text === "" && !this.#isCustom ? this.add("{}") : "";
    const { text } = this.#text;
    const isBroken = !this.#isCustom && !isJson(text);
    this.done = this.#item(isBroken ? "incomplete" : "completed");
    const whole = this.#isCustom ? { input: text } : { name: this.#named["name"], arguments: text };
    return (
      events +
      this.#emit(`${this.#event()}.done`, { ...this.#position(), ...whole }) +
      this.#emit("response.output_item.done", { output_index: this.index, item: this.done })
    );
  }

  #event(): string {
    return this.#isCustom ? "response.custom_tool_call_input" : "response.function_call_arguments";
  }

  #position(): object {
    return { item_id: this.#id, output_index: this.index };
  }

  #item(status: string): object {
    const type = this.#isCustom ? "custom_tool_call" : "function_call";
    const item = { id: this.#id, type, status, ...this.#named };
    const { text } = this.#text;
    return this.#isCustom ? { ...item, input: text } : { ...item, arguments: text };
  }
}
