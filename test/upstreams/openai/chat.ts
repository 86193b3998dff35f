import { sendFrames, sendJson } from "../transport.ts";
import type { SimulatedResponse, ReceivedRequest } from "../http-server.ts";
import type { Behaviour } from "../behaviour.ts";
import type { HttpExchange } from "../simulator.ts";
import { findChatFault } from "./chat-rules.ts";
import { NO_EXTENSIONS } from "./extensions.ts";
import { logprobsOf } from "./logprobs.ts";
import { refuse } from "./refusals.ts";
import { reportUsage } from "./usage.ts";
import { writeFrames } from "./frames.ts";

export interface ChatReply {
  id: string;
  model: string;
  text: string;
  /** Pieces of the text, one for each content frame. */
  pieces: string[];
  /** Number of alternatives for each token. Null means no log probabilities. */
  alternatives: number | null;
  calls: { id: string; name: string; arguments: string }[];
  finish: "stop" | "length" | "tool_calls";
  /** The usage report. Undefined when there is none. */
  usage: unknown;
}

/** Handles chat completions, complete and streamed (OpenAI chat reference). */
export async function handleChat(
  request: ReceivedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
  models: readonly string[],
  extensions = NO_EXTENSIONS,
): Promise<void> {
  const fault = findChatFault(request, models);
  if (fault) return refuse(response, fault);
  const body = exchange.hit.json();
  const { behaviour } = exchange.hit;
  const reply = makeReply(body, behaviour, request.body.byteLength);
  const options = Object(body["stream_options"]);
  if (body["stream"] !== true) {
    await sendJson(response, 200, extensions.whole(writeWhole(reply, behaviour)), behaviour);
    if (response.isFinished) exchange.reportUsage(reply.usage);
  } else if (behaviour.fault === "json-for-stream") {
    await sendJson(response, 200, extensions.whole(writeWhole(reply, behaviour)), behaviour);
    exchange.reportUsage(reply.usage);
  } else if (behaviour.fault === "error-json-for-stream") {
    await sendJson(response, 200, {
      error: { message: "Slow down", type: "requests", code: "rate_limit_exceeded" },
    });
  } else {
    const hasUsage = options.include_usage === true;
    const isWhole = await sendFrames(
      response,
      extensions.frames(writeFrames(reply, behaviour, hasUsage)),
      behaviour,
    );
    if (isWhole && hasUsage) exchange.reportUsage(reply.usage);
  }
}

/** Returns the choices of a response or chunk, with the behaviour's fault. */
export function faultyChoices(choices: unknown[], { fault }: Behaviour): unknown[] | null {
  if (fault === "choices-null") return null;
  return fault === "choices-empty" ? [] : choices;
}

function makeReply(body: Record<string, unknown>, behaviour: Behaviour, requestBytes: number): ChatReply {
  const limit = Number(body["max_completion_tokens"] ?? body["max_tokens"] ?? Number.POSITIVE_INFINITY);
  const wanted = behaviour.tokens ?? 8;
  const tokens = Math.min(wanted, limit);
  const calls = chooseCalls(body, behaviour);
  const text = calls.length > 0 ? "" : (behaviour.text ?? makeWords(tokens));
  const prompt = Math.ceil(requestBytes / 4);
  return {
    id: behaviour.calls ? `chatcmpl-${crypto.randomUUID()}` : "chatcmpl-simulated",
    model: String(body["model"]),
    text,
    pieces: cut(text, behaviour.frames ?? tokens),
    alternatives: body["logprobs"] === true ? Number(body["top_logprobs"] ?? 0) : null,
    calls,
    finish: calls.length > 0 ? "tool_calls" : wanted > limit ? "length" : "stop",
    usage: reportUsage({ prompt, completion: tokens }, behaviour),
  };
}

/** Returns the log probabilities of these pieces, in the format of a choice. */
export function writeLogprobs({ alternatives }: ChatReply, pieces: readonly string[]): object | null {
  if (alternatives === null || pieces.length === 0) return null;
  return { content: logprobsOf(pieces, alternatives), refusal: null };
}

function makeWords(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index} `).join("");
}

function cut(text: string, count: number): string[] {
  if (text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

/** Returns the behaviour's calls, or calls the first tool for the user's message unless `tool_choice` is `none`. */
function chooseCalls(body: Record<string, unknown>, behaviour: Behaviour): ChatReply["calls"] {
  if (behaviour.calls)
    return behaviour.calls.map(({ name, arguments: values }) => ({
      id: `call_${crypto.randomUUID().slice(0, 8)}`,
      name,
      arguments: JSON.stringify(values),
    }));
  const [first] = Array.isArray(body["tools"]) ? body["tools"] : [];
  const last = Array.isArray(body["messages"]) ? body["messages"].at(-1) : undefined;
  if (!first || body["tool_choice"] === "none" || last?.role !== "user") return [];
  const required: string[] = first.function?.parameters?.required ?? [];
  const values = Object.fromEntries(required.map((name) => [name, "value"]));
  return [{ id: "call_1", name: String(first.function?.name), arguments: JSON.stringify(values) }];
}

function writeWhole(reply: ChatReply, behaviour: Behaviour): object {
  const calls = reply.calls.map(({ id, ...named }) => ({ id, type: "function", function: named }));
  const message = {
    role: "assistant",
    content: calls.length > 0 ? null : reply.text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const logprobs = writeLogprobs(reply, reply.pieces);
  const choices = [{ index: 0, message, logprobs, finish_reason: reply.finish }];
  return {
    id: reply.id,
    object: "chat.completion",
    created: 1_790_000_000,
    model: reply.model,
    ...(behaviour.fault !== "choices-missing" && { choices: faultyChoices(choices, behaviour) }),
    ...(reply.usage !== undefined && { usage: reply.usage }),
  };
}
