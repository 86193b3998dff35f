import type { ReplyEvent } from "../conversation/reply.ts";
import type { ToolCall } from "../conversation/request.ts";
import { isObject } from "../../lib/json.ts";
import { CallNumbers } from "./call-numbers.ts";
import { newCallId, readCall } from "./tools.ts";

interface OpenCall {
  id: string;
  /** As it was announced, which waits for the name. */
  kind: ToolCall["kind"] | null;
  /** Arguments that came before the name. */
  waiting: string;
  hasArguments: boolean;
}

/**
 * Reads the calls of a stream. Each is announced once, with its name; an id is made where the vendor gives none, or one
 * that another call has.
 */
export class CallDeltas {
  readonly #numbers = new CallNumbers();
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** `areWhole`: each is a call of its own, whatever its id and index are. */
  *read(deltas: readonly unknown[], { areWhole }: { areWhole: boolean }): Generator<ReplyEvent> {
    for (const delta of deltas) {
      const part = readCall(delta);
      if (!part || !isObject(delta)) continue;
      const call = areWhole ? this.#calls.length : this.#numbers.of(part, delta["index"]);
      const open = (this.#calls[call] ??= { id: "", kind: null, waiting: "", hasArguments: false });
      yield* this.#add(call, open, part);
    }
  }

  /** A function without parameters may have been called without arguments; other protocols want an object. */
  *end(): Generator<ReplyEvent> {
    for (const [call, { kind, hasArguments }] of this.#calls.entries())
      if (kind === "function" && !hasArguments) yield { type: "arguments", call, text: "{}" };
  }

  *#add(call: number, open: OpenCall, part: ToolCall): Generator<ReplyEvent> {
    const { name, kind, signature } = part;
    if (open.id === "" && !this.#ids.has(part.id)) {
      open.id = part.id;
      this.#ids.add(part.id);
    }
    open.waiting += part.arguments;
    if (open.kind === null) {
      if (name === "") return;
      open.kind = kind;
      yield { type: "call", call, id: open.id || newCallId(), name, kind, ...(signature && { signature }) };
    }
    if (open.waiting === "") return;
    open.hasArguments = true;
    yield { type: "arguments", call, text: open.waiting };
    open.waiting = "";
  }
}
