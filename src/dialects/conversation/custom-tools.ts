import { parseBounded } from "../../lib/parse-json.ts";
import { GrowingObject } from "../../lib/growing-object.ts";
import { isObject } from "../../lib/json.ts";
import type { VendorTraits } from "../dialect.ts";
import type { TextDialectName } from "../name.ts";
import type { Reply, ReplyEvent, ReplyReader } from "./reply.ts";
import type { AssistantPart, Conversation, Tool, Turn } from "./request.ts";

/**
 * Converts custom tools for vendors that support only functions. A custom tool accepts any text. It becomes a function
 * whose only argument is this text. A call of the function becomes a call of the custom tool again.
 */
export class CustomToolsAsFunctions {
  /** The conversation in which functions replace custom tools. */
  readonly conversation: Conversation;
  readonly #names: ReadonlySet<string>;

  constructor(conversation: Conversation) {
    const { tools, turns } = conversation;
    this.#names = customNames(tools);
    const isUsed = this.#names.size > 0 || turns.some(hasCustomCall);
    this.conversation = isUsed
      ? { ...conversation, tools: tools.map(asFunction), turns: turns.map(withFunctionCalls) }
      : conversation;
  }

  /** Returns a whole reply in which calls of custom tools replace calls of their functions. */
  readReply(reply: Reply): Reply {
    if (this.#names.size === 0) return reply;
    const parts = reply.parts.map((part): AssistantPart => {
      if (part.type !== "tool_call" || !this.#names.has(part.name)) return part;
      return { ...part, kind: "custom", arguments: inputOf(part.arguments) ?? part.arguments };
    });
    return { ...reply, parts };
  }

  /** Returns a reader that replaces calls of functions by calls of their custom tools. */
  wrap(reader: ReplyReader): ReplyReader {
    return this.#names.size === 0 ? reader : new CustomCallReader(reader, this.#names);
  }
}

export function customNames(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap(({ kind, name }) => (kind === "custom" ? [name] : [])));
}

/** Returns true when vendors of a protocol support custom tools. Only some vendors of chat completions do. */
export function takesCustomTools(
  dialect: TextDialectName,
  { refuses }: VendorTraits & { refuses?: readonly string[] },
): boolean {
  return dialect === "responses" || (dialect === "chat" && !(refuses?.includes("custom_tools") ?? false));
}

function hasCustomCall({ role, parts }: Turn): boolean {
  return role === "assistant" && parts.some((part) => part.type === "tool_call" && part.kind === "custom");
}

function asFunction(tool: Tool): Tool {
  if (tool.kind !== "custom") return tool;
  const { format, description, ...named } = tool;
  const grammar = isObject(format) && typeof format["definition"] === "string" ? format : null;
  const syntax = typeof grammar?.["syntax"] === "string" ? `${grammar["syntax"]} ` : "";
  const rule = grammar && `\`input\` must match this ${syntax}grammar:\n${grammar["definition"]}`;
  const text = [description, rule].filter((each) => typeof each === "string" && each !== "").join("\n\n");
  return {
    ...named,
    kind: "function",
    description: text === "" ? null : text,
    parameters: {
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

function withFunctionCalls(turn: Turn): Turn {
  if (turn.role !== "assistant" || !hasCustomCall(turn)) return turn;
  const parts = turn.parts.map((part): AssistantPart => {
    if (part.type !== "tool_call" || part.kind !== "custom") return part;
    return { ...part, kind: "function", arguments: JSON.stringify({ input: part.arguments }) };
  });
  return { ...turn, parts };
}

/** Returns the text `input` of a function's arguments; null when the arguments are incomplete or have no `input`. */
function inputOf(text: string): string | null {
  try {
    const value: unknown = parseBounded(text);
    return isObject(value) && typeof value["input"] === "string" ? value["input"] : null;
  } catch {
    return null;
  }
}

/** Collects the arguments of a custom tool's call until their JSON, which contains the text, is complete. */
class CustomCallReader implements ReplyReader {
  readonly #reader: ReplyReader;
  readonly #names: ReadonlySet<string>;
  /** Incomplete arguments by number of the tool call. */
  readonly #held = new Map<number, GrowingObject>();

  constructor(reader: ReplyReader, names: ReadonlySet<string>) {
    this.#reader = reader;
    this.#names = names;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  *read(data: string): Generator<ReplyEvent> {
    for (const event of this.#reader.read(data)) {
      if (event.type === "call" && this.#names.has(event.name)) {
        this.#held.set(event.call, new GrowingObject());
        yield { ...event, kind: "custom" };
        continue;
      }
      const held = event.type === "arguments" ? this.#held.get(event.call) : undefined;
      if (event.type === "arguments" && held) {
        const input = held.add(event.text) ? inputOf(held.text) : null;
        if (input !== null) yield this.#release(event.call, input);
        continue;
      }
      // If the arguments are no complete object with `input` when the reply ends, they are sent unchanged.
      if (event.type === "finish") for (const [call, { text }] of this.#held) yield this.#release(call, text);
      yield event;
    }
  }

  #release(call: number, text: string): ReplyEvent {
    this.#held.delete(call);
    return { type: "arguments", call, text };
  }
}
