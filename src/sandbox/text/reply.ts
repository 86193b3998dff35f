import { createRandom, hashHex, hashNumber } from "../random.ts";
import { composeAnswer, topicOf } from "./answer.ts";
import type { Conversation, Tool } from "./conversation.ts";
import { sampleSchema } from "./schema-sample.ts";
import { countTokens, splitTokens } from "./tokens.ts";

/** A whole answer, thought through before its first byte is sent. */
export interface Reply {
  /** The same for the same request. */
  id: string;
  /** Unix seconds; derived from the request, not from the clock. */
  created: number;
  model: string;
  choices: Choice[];
  usage: { prompt: number; completion: number; reasoning: number };
}

export interface Choice {
  /** The answer, or the arguments of the tool call, one token each. */
  tokens: string[];
  toolCall: { id: string; name: string } | null;
  finishReason: "stop" | "length" | "tool_calls";
}

/** Hidden tokens by `reasoning_effort`. */
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

/** 1 November 2026, in Unix seconds, and the span after it in which answers claim to be made. */
const FIRST_CREATED = 1_793_491_200;
const CREATED_SPAN = 864_000;

/** Thinks an answer up. `fingerprint` is what makes the request this one and no other. */
export function composeReply(conversation: Conversation, fingerprint: string): Reply {
  const hash = hashHex(fingerprint, 24);
  const reasoning = reasoningTokens(conversation);
  const room = conversation.limit - reasoning;
  const choices: Choice[] = [];
  let completion = 0;
  for (let index = 0; index < conversation.choices; index += 1) {
    const choice = conversation.tool
      ? callTool(conversation, conversation.tool, { id: `call_${hashHex(`${hash} ${index}`, 24)}`, room })
      : composeChoice(conversation, index, room);
    choices.push(choice);
    completion += reasoning + choice.tokens.length + countTokens(choice.toolCall?.name ?? "");
  }
  return {
    id: `chatcmpl-${hash}`,
    created: FIRST_CREATED + (hashNumber(fingerprint) % CREATED_SPAN),
    model: conversation.model,
    choices,
    usage: { prompt: conversation.promptTokens, completion, reasoning: reasoning * choices.length },
  };
}

function composeChoice(conversation: Conversation, index: number, room: number): Choice {
  const whole =
    conversation.format.kind === "json" ? composeJson(conversation) : composeAnswer(conversation, index);
  const tokens = splitTokens(cutAtStop(whole, conversation.stops));
  if (tokens.length <= room) return { tokens, toolCall: null, finishReason: "stop" };
  return { tokens: tokens.slice(0, room), toolCall: null, finishReason: "length" };
}

function callTool(conversation: Conversation, tool: Tool, call: { id: string; room: number }): Choice {
  const topic = topicOf(conversation.question, createRandom(conversation.question));
  const tokens = splitTokens(JSON.stringify(sampleSchema(tool.parameters, topic)));
  const room = Math.max(0, call.room - countTokens(tool.name));
  const toolCall = { id: call.id, name: tool.name };
  if (tokens.length <= room) return { tokens, toolCall, finishReason: "tool_calls" };
  return { tokens: tokens.slice(0, room), toolCall, finishReason: "length" };
}

function composeJson(conversation: Conversation): string {
  const { format, question } = conversation;
  if (format.kind === "json" && format.schema !== null) {
    const topic = topicOf(question, createRandom(question));
    return JSON.stringify(sampleSchema(format.schema, topic));
  }
  return JSON.stringify({ question, composeChoice: composeAnswer(conversation, 0) });
}

/** Half of the room is kept for what can be seen. */
function reasoningTokens({ effort, limit }: Conversation): number {
  if (effort === null) return 0;
  const wanted = Object.hasOwn(REASONING_TOKENS, effort) ? REASONING_TOKENS[effort] : undefined;
  return Math.min(wanted ?? DEFAULT_REASONING_TOKENS, Math.floor(limit / 2));
}

function cutAtStop(text: string, stops: readonly string[]): string {
  const positions = stops.map((stop) => text.indexOf(stop)).filter((position) => position >= 0);
  return positions.length === 0 ? text : text.slice(0, Math.min(...positions));
}
