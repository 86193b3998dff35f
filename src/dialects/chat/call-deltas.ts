import type { ReplyEvent } from "../conversation/reply.ts";
import type { ToolCall } from "../conversation/request.ts";
import { isObject } from "../../lib/json.ts";
import { newCallId, readCall } from "./tool-calls.ts";

interface OpenCall {
  /** Dense, from 0, in the order of appearance. */
  call: number;
  /** The vendor's own; empty where it gives none. */
  id: string;
  /** As in its announcement, which waits for the name. */
  announced: ToolCall | null;
  /** Arguments that came before the name. */
  waiting: string;
  hasArguments: boolean;
}

/**
 * Tells the calls of a stream apart. Servers differ: parallel calls may all have index 0 and differ in their id
 * (vLLM), or have no index and come whole (xAI, Google); names and ids may be repeated in every delta.
 */
export class CallDeltas {
  readonly #calls: OpenCall[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<unknown, OpenCall>();

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  *read(deltas: readonly unknown[]): Generator<ReplyEvent> {
    for (const delta of deltas) {
      const part = readCall(delta);
      if (part) yield* this.#add(part, isObject(delta) ? delta["index"] : undefined);
    }
  }

  /** A function without parameters may have been called without arguments; other protocols want an object. */
  *end(): Generator<ReplyEvent> {
    for (const { call, announced, hasArguments } of this.#calls)
      if (announced?.kind === "function" && !hasArguments) yield { type: "arguments", call, text: "{}" };
  }

  *#add(part: ToolCall, index: unknown): Generator<ReplyEvent> {
    const open = this.#openCall(part, index);
    if (!open.announced) {
      open.waiting += part.arguments;
      if (part.name === "") return;
      const { id, name, kind, signature } = part;
      open.announced = { ...part, id: id || open.id || newCallId() };
      const announcement = { call: open.call, id: open.announced.id, name, kind };
      yield { type: "call", ...announcement, ...(signature && { signature }) };
      yield* this.#argue(open, open.waiting);
    } else yield* this.#argue(open, part.arguments);
  }

  *#argue(open: OpenCall, text: string): Generator<ReplyEvent> {
    if (text === "") return;
    open.hasArguments = true;
    yield { type: "arguments", call: open.call, text };
  }

  #openCall({ id, name }: ToolCall, index: unknown): OpenCall {
    const last = typeof index === "number" ? this.#byIndex.get(index) : this.#calls.at(-1);
    const isOther = last && id !== "" && last.id !== "" && id !== last.id;
    // Without an index nothing but a name tells that a call begins.
    const isNext = last && typeof index !== "number" && id === "" && name !== "";
    if (last && !isOther && !isNext) {
      last.id ||= id;
      return last;
    }
    const open = { call: this.#calls.length, id, announced: null, waiting: "", hasArguments: false };
    this.#calls.push(open);
    this.#byIndex.set(index, open);
    return open;
  }
}
