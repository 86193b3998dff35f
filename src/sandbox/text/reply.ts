import { createRandom } from "../random.ts";
import { composeAnswer, topicOf } from "./answer.ts";
import type { Conversation, Tool } from "./conversation.ts";
import { sampleSchema } from "./schema-sample.ts";
import { countTokens, splitTokens } from "./tokens.ts";
import { isObject, ownValue } from "../../lib/json.ts";
import { systemClock } from "../../lib/clock.ts";

/** A complete reply. All of it is composed before the first byte is sent. */
export interface Reply {
  /** Id of the reply. As at vendors, every request gets a new id. */
  id: string;
  /** Time in Unix seconds at which the reply was composed. */
  created: number;
  model: string;
  choices: Choice[];
  usage: { prompt: number; completion: number; reasoning: number };
}

export interface Choice {
  /** The tokens of the text, or of the arguments of the tool call. */
  tokens: string[];
  toolCall: { id: string; name: string } | null;
  finishReason: "stop" | "length" | "tool_calls";
  /** The stop sequence that ended the text; null when no stop sequence ended it. */
  stopSequence: string | null;
}

/** Number of reasoning tokens for each value of `reasoning_effort`. */
const REASONING_TOKENS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 16,
  low: 64,
  medium: 256,
  high: 1024,
  xhigh: 2048,
  max: 4096,
};
const DEFAULT_REASONING_TOKENS = 256;

const MS_PER_SECOND = 1000;
const ID_CHARACTERS = 24;

/** Composes a reply. The same request gets the same words, but a new id. */
export function composeReply(conversation: Conversation): Reply {
  const reasoning = reasoningTokens(conversation);
  const capacity = conversation.limit - reasoning;
  const { tool } = conversation;
  // All choices share the JSON of a schema. Making this JSON takes the most time, and there may be 128 choices.
  const json = tool ? sampleArguments(conversation, tool) : composeJson(conversation);
  const choices: Choice[] = [];
  let completion = 0;
  for (let index = 0; index < conversation.choices; index += 1) {
    const text = json ?? composeAnswer(conversation, index);
    const choice = tool ? callTool(tool, text, capacity) : composeChoice(text, conversation.stops, capacity);
    choices.push(choice);
    completion += reasoning + choice.tokens.length + countTokens(choice.toolCall?.name ?? "");
  }
  return {
    id: newId("chatcmpl-"),
    created: Math.floor(systemClock.now() / MS_PER_SECOND),
    model: conversation.model,
    choices,
    usage: { prompt: conversation.promptTokens, completion, reasoning: reasoning * choices.length },
  };
}

function composeChoice(text: string, stops: readonly string[], capacity: number): Choice {
  const { kept, stopSequence } = cutAtStop(text, stops);
  const tokens = splitTokens(kept);
  if (tokens.length <= capacity) return { tokens, toolCall: null, finishReason: "stop", stopSequence };
  const cut = tokens.slice(0, capacity);
  return { tokens: cut, toolCall: null, finishReason: "length", stopSequence: null };
}

function callTool(tool: Tool, text: string, capacity: number): Choice {
  const tokens = splitTokens(text);
  const left = Math.max(0, capacity - countTokens(tool.name));
  const toolCall = { id: newId("call_"), name: tool.name };
  const isWhole = tokens.length <= left;
  return {
    tokens: isWhole ? tokens : tokens.slice(0, left),
    toolCall,
    finishReason: isWhole ? "tool_calls" : "length",
    stopSequence: null,
  };
}

function sampleArguments({ question }: Conversation, { parameters }: Tool): string {
  // Arguments must be an object, even if the schema has no type or allows other types.
  const schema = isObject(parameters) ? { type: "object", ...parameters } : null;
  const sampled = schema && sampleSchema(schema, topicOf(question, createRandom(question)));
  return JSON.stringify(isObject(sampled) ? sampled : {});
}

/** Returns a JSON reply; null when the reply is plain text. */
function composeJson(conversation: Conversation): string | null {
  const { format, question } = conversation;
  if (format.kind === "text") return null;
  if (format.schema === null) return JSON.stringify({ question, reply: composeAnswer(conversation, 0) });
  return JSON.stringify(sampleSchema(format.schema, topicOf(question, createRandom(question))));
}

function newId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, ID_CHARACTERS);
}

/** Returns the number of reasoning tokens: at most half of the limit, so that visible tokens get the rest. */
function reasoningTokens({ effort, limit }: Conversation): number {
  if (effort === null) return 0;
  const wanted = ownValue(REASONING_TOKENS, effort);
  return Math.min(wanted ?? DEFAULT_REASONING_TOKENS, Math.floor(limit / 2));
}

function cutAtStop(text: string, stops: readonly string[]): { kept: string; stopSequence: string | null } {
  let kept = text;
  let stopSequence: string | null = null;
  for (const stop of stops) {
    const position = text.indexOf(stop);
    if (position < 0 || position >= kept.length) continue;
    kept = text.slice(0, position);
    stopSequence = stop;
  }
  return { kept, stopSequence };
}
