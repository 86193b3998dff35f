import { sendFrames, sendJson } from "../delivery.ts";
import type { Answer, ReceivedRequest } from "../connection.ts";
import type { Plan } from "../plan.ts";
import type { HttpExchange } from "../simulator.ts";
import { findChatFault } from "./chat-rules.ts";
import { PLAIN_MANNERS } from "./manners.ts";
import { refuse } from "./refusals.ts";
import { reportUsage } from "./usage.ts";
import { writeFrames } from "./frames.ts";

/** What a simulated model says. */
export interface ChatReply {
  id: string;
  model: string;
  text: string;
  /** Pieces of the text, one for each content frame. */
  pieces: string[];
  tool: { name: string; arguments: string } | null;
  finish: "stop" | "length" | "tool_calls";
  /** What the report says; undefined is no report. */
  usage: unknown;
}

/** Chat completions, whole and as a stream (OpenAI chat reference). */
export async function handleChat(
  request: ReceivedRequest,
  answer: Answer,
  exchange: HttpExchange,
  models: readonly string[],
  manners = PLAIN_MANNERS,
): Promise<void> {
  const fault = findChatFault(request, models);
  if (fault) return refuse(answer, fault);
  const body = exchange.hit.json();
  const { plan } = exchange.hit;
  const reply = makeReply(body, plan, request.body.byteLength);
  const options = Object(body["stream_options"]);
  if (body["stream"] !== true) {
    await sendJson(answer, 200, manners.whole(writeWhole(reply, plan)), plan);
    if (answer.isFinished) exchange.reportUsage(reply.usage);
  } else if (plan.fault === "json-for-stream") {
    await sendJson(answer, 200, manners.whole(writeWhole(reply, plan)), plan);
    exchange.reportUsage(reply.usage);
  } else if (plan.fault === "error-json-for-stream") {
    await sendJson(answer, 200, {
      error: { message: "Slow down", type: "requests", code: "rate_limit_exceeded" },
    });
  } else {
    const hasUsage = options.include_usage === true;
    const isWhole = await sendFrames(answer, manners.frames(writeFrames(reply, plan, hasUsage)), plan);
    if (isWhole && hasUsage) exchange.reportUsage(reply.usage);
  }
}

/** The choices of a response or a chunk, as wrong as the plan wants them. */
export function bentChoices(choices: unknown[], { fault }: Plan): unknown[] | null {
  if (fault === "choices-null") return null;
  return fault === "choices-empty" ? [] : choices;
}

function makeReply(body: Record<string, unknown>, plan: Plan, requestBytes: number): ChatReply {
  const limit = Number(body["max_completion_tokens"] ?? body["max_tokens"] ?? Number.POSITIVE_INFINITY);
  const wanted = plan.tokens ?? 8;
  const tokens = Math.min(wanted, limit);
  const tool = chooseTool(body);
  const text = tool ? "" : (plan.text ?? makeWords(tokens));
  const prompt = Math.ceil(requestBytes / 4);
  return {
    id: "chatcmpl-simulated",
    model: String(body["model"]),
    text,
    pieces: cut(text, plan.frames ?? tokens),
    tool,
    finish: tool ? "tool_calls" : wanted > limit ? "length" : "stop",
    usage: reportUsage({ prompt, completion: tokens }, plan),
  };
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

/** The first tool is called while the last message is the user's. */
function chooseTool(body: Record<string, unknown>): ChatReply["tool"] {
  const [first] = Array.isArray(body["tools"]) ? body["tools"] : [];
  const last = Array.isArray(body["messages"]) ? body["messages"].at(-1) : undefined;
  if (!first || body["tool_choice"] === "none" || last?.role !== "user") return null;
  const required: string[] = first.function?.parameters?.required ?? [];
  const values = Object.fromEntries(required.map((name) => [name, "value"]));
  return { name: String(first.function?.name), arguments: JSON.stringify(values) };
}

function writeWhole(reply: ChatReply, plan: Plan): object {
  const { tool } = reply;
  const calls = tool && [{ id: "call_1", type: "function", function: tool }];
  const message = {
    role: "assistant",
    content: tool ? null : reply.text,
    refusal: null,
    ...(calls && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reply.finish }];
  return {
    id: reply.id,
    object: "chat.completion",
    created: 1_790_000_000,
    model: reply.model,
    ...(plan.fault !== "choices-missing" && { choices: bentChoices(choices, plan) }),
    ...(reply.usage !== undefined && { usage: reply.usage }),
  };
}
