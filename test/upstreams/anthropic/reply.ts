import { isObject } from "../../../src/lib/json.ts";
import { RawJson } from "../../../src/lib/json-edit.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Body } from "./rules.ts";
import { signatureOf } from "./signatures.ts";

export interface MessageReply {
  model: string;
  content: Record<string, unknown>[];
  stop: { stop_reason: string; stop_sequence: string | null };
  /** The usage report. Undefined when there is none. */
  usage: unknown;
  /** Number of pieces of a text block. */
  pieces: number;
}

/** Prefixes of prompts in the vendor's cache. */
export type PromptCache = Set<string>;

/**
 * Replies with calls of every tool if the last message has no results, else with text. `calls` of the behaviour and
 * `tool_choice` have priority. Thinks first if thinking is enabled or adaptive.
 */
export function makeReply(body: Body, behaviour: Behaviour, bytes: number, cache: PromptCache): MessageReply {
  const limit = Number(body["max_tokens"]);
  const wanted = behaviour.tokens ?? 8;
  const thinking = makeThinking(body);
  const calls = makeCalls(body, behaviour);
  const left = Math.max(1, limit - thinking.length);
  const text = behaviour.text ?? makeWords(Math.min(wanted, left));
  const stops = Array.isArray(body["stop_sequences"]) ? body["stop_sequences"].map(String) : [];
  const stop = stops.find((each) => text.includes(each)) ?? null;
  const said = stop === null ? text : text.slice(0, text.indexOf(stop));
  const reason = calls.length > 0 ? "tool_use" : wanted > left ? "max_tokens" : "end_turn";
  const output = thinking.length * 5 + (calls.length > 0 ? 6 * calls.length : Math.min(wanted, left));
  return {
    model: String(body["model"]),
    content: [...thinking, ...(calls.length > 0 ? calls : [{ type: "text", text: said }])],
    stop: { stop_reason: stop === null ? reason : "stop_sequence", stop_sequence: stop },
    usage: reportUsage(body, { bytes, output, thinking: thinking.length * 5 }, behaviour, cache),
    pieces: behaviour.frames ?? Math.min(wanted, left),
  };
}

/** Returns the number of input tokens that the vendor counts. */
export function countInput(bytes: number): number {
  return Math.ceil(bytes / 4);
}

function makeThinking({ thinking }: Body): Record<string, unknown>[] {
  const { type, display } = isObject(thinking) ? thinking : {};
  if (type !== "enabled" && type !== "adaptive") return [];
  const thought = display === "omitted" ? "" : "Let me think about this.";
  return [{ type: "thinking", thinking: thought, signature: signatureOf(thought) }];
}

/** Large numbers and unusual spacing show whether the text is parsed and printed again. */
export const CALL_INPUT = '{"id": 12345678901234567890, "n": 1.0}';

function makeCalls(body: Body, behaviour: Behaviour): Record<string, unknown>[] {
  if (behaviour.calls)
    return behaviour.calls.map(({ name, arguments: values }) => {
      const id = `toolu_${crypto.randomUUID().slice(0, 8)}`;
      const input = new RawJson(JSON.stringify(values));
      return { type: "tool_use", id, name, input, caller: { type: "direct" } };
    });
  const { tools, messages, tool_choice: choice } = body;
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  const isAnswered = JSON.stringify(last?.content ?? "").includes('"tool_result"');
  const type = isObject(choice) ? choice["type"] : "auto";
  if (!Array.isArray(tools) || type === "none" || (isAnswered && type !== "any")) return [];
  return tools.map(({ name }, index) => {
    const id = `toolu_${String(messages && Object(messages).length)}_${index}`;
    return { type: "tool_use", id, name, input: new RawJson(CALL_INPUT), caller: { type: "direct" } };
  });
}

function makeWords(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index} `).join("");
}

/** Fields of a usage report that has no other counts. */
const NOTHING_MORE = {
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  cache_creation: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: "standard",
  inference_geo: null,
  speed: null,
};

interface Counts {
  bytes: number;
  output: number;
  thinking: number;
}

function reportUsage(body: Body, counts: Counts, behaviour: Behaviour, cache: PromptCache): unknown {
  if (behaviour.usage !== undefined)
    return isObject(behaviour.usage) ? { ...NOTHING_MORE, ...behaviour.usage } : behaviour.usage;
  const prompt = countInput(counts.bytes);
  const cached = countCached(body, prompt, cache);
  const { read, written, isHour } = cached;
  const usage = (input: unknown, output: unknown) => ({
    input_tokens: input,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: isHour ? 0 : written,
      ephemeral_1h_input_tokens: isHour ? written : 0,
    },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: counts.thinking },
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: null,
    speed: null,
  });
  const input = prompt - read - written;
  switch (behaviour.fault) {
    case "no-usage":
      return undefined;
    case "usage-null":
      return null;
    case "usage-strings":
      return usage(String(input), String(counts.output));
    case "usage-negative":
      return usage(-input, -counts.output);
    case "usage-huge":
      return usage(1e308, 2 ** 63);
    case "usage-float":
      return usage(input + 0.5, counts.output + 0.5);
    default:
      return usage(input, counts.output);
  }
}

/** Counts tokens up to the last `cache_control`: tokens of a cached prefix are read, the others are written. */
function countCached(
  body: Body,
  prompt: number,
  cache: PromptCache,
): { read: number; written: number; isHour: boolean } {
  const text = JSON.stringify([body["tools"], body["system"], body["messages"]]);
  const end = text.lastIndexOf('"cache_control":{');
  if (end < 0) return { read: 0, written: 0, isHour: false };
  const prefix = text.slice(0, end);
  const tokens = Math.min(prompt - 1, countInput(prefix.length));
  const known = [...cache].filter((each) => prefix.startsWith(each)).map((each) => countInput(each.length));
  const read = Math.min(tokens, Math.max(0, ...known));
  cache.add(prefix);
  return { read, written: tokens - read, isHour: text.slice(end, end + 60).includes('"ttl":"1h"') };
}
