import { OUTPUT_CATEGORIES, type TokenCounts, type TokenUsage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import type { TextRequest } from "../dialect.ts";
import type { Finish, Reply, ReplyEvent, ReplyReader } from "./reply.ts";

/** Detects an empty reply. Such a reply ends normally, but has no content, tool calls, refusal or reasoning. */
export class Emptiness {
  #hasSomething = false;
  #finish: Finish | null = null;

  /** True when the reply has ended normally and was empty. */
  get isEmpty(): boolean {
    return !this.#hasSomething && this.#finish?.reason === "stop" && this.#finish.stopSequence === null;
  }

  add(event: ReplyEvent): void {
    if (event.type === "finish") this.#finish = event.finish;
    else if (isSomething(event)) this.#hasSomething = true;
  }

  /** Reads the data of an event in the vendor's form. Unreadable data counts as content. */
  read(reader: ReplyReader, data: string): void {
    try {
      for (const event of reader.read(data)) this.add(event);
    } catch {
      this.#hasSomething = true;
    }
  }
}

function isSomething(event: Exclude<ReplyEvent, { type: "finish" }>): boolean {
  switch (event.type) {
    case "text":
    case "refusal":
    case "reasoning":
    case "arguments":
      return event.text !== "";
    case "call":
    case "signature":
    case "use":
    case "other":
      return true;
    case "usage":
      return hasWritten(event.report.tokens);
    case "start":
    case "logprobs":
      return false;
  }
}

/** Maximum number of characters of stored events, high because events of `responses` vendors repeat the request. */
const MAX_OPENING = 4 * 1024 * 1024;

/** Stores the events before the first content of a forwarded stream. They are read only if no content arrives. */
export class Opening {
  readonly #openReader: () => ReplyReader;
  readonly #events: string[] = [];
  #characters = 0;

  constructor(openReader: () => ReplyReader) {
    this.#openReader = openReader;
  }

  add(data: string): void {
    if ((this.#characters += data.length) <= MAX_OPENING) this.#events.push(data);
  }

  /** True when the stored events are a whole and empty reply. False when the events were too long to store. */
  get isEmpty(): boolean {
    if (this.#characters > MAX_OPENING) return false;
    const emptiness = new Emptiness();
    const reader = this.#openReader();
    for (const data of this.#events) emptiness.read(reader, data);
    return emptiness.isEmpty;
  }
}

/** Number of output tokens that shows that a model wrote something. A smaller maximum explains an empty reply. */
const FEW_TOKENS = 16;

/** True when the reported tokens show more than text: reasoning, or content that the gateway cannot read. */
function hasWritten(tokens: TokenCounts): boolean {
  if ((tokens.reasoning ?? 0) > 0) return true;
  return OUTPUT_CATEGORIES.reduce((sum, category) => sum + (tokens[category] ?? 0), 0) >= FEW_TOKENS;
}

/** True when the request may cause an empty reply, because it has stop sequences or a very small maximum. */
export function mayBeEmpty({ maxTokens, body }: Pick<TextRequest, "maxTokens" | "body">): boolean {
  if (maxTokens !== null && maxTokens < FEW_TOKENS) return true;
  const config = body["generationConfig"] ?? body["generation_config"];
  const native = isObject(config) ? (config["stopSequences"] ?? config["stop_sequences"]) : undefined;
  const stop = body["stop"] ?? body["stop_sequences"] ?? native;
  return typeof stop === "string" || (Array.isArray(stop) && stop.length > 0);
}

/** The reply for callers when all targets returned empty replies. */
export const EMPTY_REPLY: Reply = {
  id: null,
  parts: [],
  finish: { reason: "stop", stopSequence: null },
  report: null,
};

/** The billed usage of `EMPTY_REPLY`. */
export const NOTHING_BILLED: TokenUsage = { unit: "token", tokens: {}, source: "upstream" };
