import type { TextDialectName } from "../../../src/dialects/name.ts";
import { isObject } from "../../../src/lib/json.ts";
import { frameData, FrameSplitter } from "../../../src/lib/sse.ts";

/** A client's record of a response's usage. */
export interface Book {
  input: number;
  output: number;
  searches: number;
}

type Usage = Readonly<Record<string, unknown>>;

export type CallerName = TextDialectName | "embeddings";

/**
 * Returns the usage as a client of the protocol records it. A stream's events are merged as the official client does.
 */
export function readBook(caller: CallerName, text: string, isStream: boolean): Book | null {
  const usage = isStream ? mergedUsage(caller, eventsOf(text)) : wholeUsage(JSON.parse(text));
  return isObject(usage) ? BOOKS[caller](usage) : null;
}

const BOOKS: Readonly<Record<CallerName, (usage: Usage) => Book>> = {
  embeddings: (usage) => ({
    input: sum(usage, "prompt_tokens"),
    output: usage["total_tokens"] == null ? 0 : sum(usage, "total_tokens") - sum(usage, "prompt_tokens"),
    searches: 0,
  }),
  chat: (usage) => ({
    input: sum(usage, "prompt_tokens"),
    output: sum(usage, "completion_tokens"),
    searches: 0,
  }),
  messages: ({ iterations, server_tool_use: uses, ...top }) => {
    const parts = Array.isArray(iterations) ? iterations.filter(isObject) : [];
    const all = parts.length > 0 ? parts : [top];
    return {
      input: all.reduce((total, part) => total + sum(part, ...MESSAGES_INPUT), 0),
      output: all.reduce((total, part) => total + sum(part, "output_tokens"), 0),
      searches: isObject(uses) ? sum(uses, "web_search_requests") : 0,
    };
  },
  responses: (usage) => ({
    input: sum(usage, "input_tokens"),
    output: sum(usage, "output_tokens"),
    searches: 0,
  }),
  native: (usage) => ({
    input: sum(usage, "promptTokenCount", "toolUsePromptTokenCount"),
    output: sum(usage, "candidatesTokenCount", "thoughtsTokenCount"),
    searches: 0,
  }),
};

const MESSAGES_INPUT = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

function sum(usage: Usage, ...names: readonly string[]): number {
  return names.reduce((total, name) => total + ((usage[name] ?? 0) as number), 0);
}

function wholeUsage(body: Usage): unknown {
  return body["usage"] ?? body["usageMetadata"];
}

function mergedUsage(caller: CallerName, events: readonly Usage[]): unknown {
  if (caller === "native") return events.findLast((event) => event["usageMetadata"])?.["usageMetadata"];
  if (caller === "chat") return events.findLast((event) => event["usage"])?.["usage"];
  if (caller === "responses") {
    const last = events.findLast(({ type }) => /^response\.(completed|incomplete)$/.test(String(type)));
    return isObject(last?.["response"]) ? last["response"]["usage"] : null;
  }
  return messagesUsage(events);
}

/**
 * Merges like the official client: replaces the output count, and other counts unless they are null (`MessageStream`).
 */
function messagesUsage(events: readonly Usage[]): Record<string, unknown> {
  let merged: Record<string, unknown> = {};
  for (const { type, message, usage } of events) {
    if (type === "message_start" && isObject(message) && isObject(message["usage"]))
      merged = { ...message["usage"] };
    if (type !== "message_delta" || !isObject(usage)) continue;
    merged["output_tokens"] = usage["output_tokens"];
    for (const name of [...MESSAGES_INPUT, "server_tool_use", "iterations"])
      if (usage[name] !== null && usage[name] !== undefined) merged[name] = usage[name];
  }
  return merged;
}

function eventsOf(stream: string): Usage[] {
  const splitter = new FrameSplitter();
  const frames = [...splitter.push(Buffer.from(stream)), splitter.end()];
  return frames
    .map((frame) => frameData(frame) ?? "")
    .filter((data) => data !== "" && !data.startsWith("[DONE]"))
    .map((data) => JSON.parse(data))
    .filter(isObject);
}
