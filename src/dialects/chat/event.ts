import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, ownValue } from "../../lib/json.ts";
import type { Finish, FinishReason } from "../conversation/reply.ts";
import type { VendorReply } from "../dialect.ts";
import {
  kindOfCode,
  kindOfSentence,
  mayBeTooLong,
  retrySecondsOf,
  saysContextExceeded,
} from "../openai-error-codes.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";

/**
 * Parses a whole reply. Throws an `UpstreamError` if the reply is not a chat completion, has no choices, or has a
 * choice without a message. Clients read messages and calls without checking for them.
 */
export function parseCompletion({ text, parsed }: VendorReply): Completion {
  const body = parsed ?? parseVendorObject(text, "the response");
  if (!isCompletion(body)) throw new UpstreamError("broken", "the response has no choices");
  return body;
}

interface Completion extends Record<string, unknown> {
  choices: readonly unknown[];
}

function isCompletion(body: unknown): body is Completion {
  if (!isObject(body) || !Array.isArray(body["choices"])) return false;
  return body["choices"].length > 0 && body["choices"].every(isChoice);
}

function isChoice(choice: unknown): boolean {
  if (!isObject(choice) || !isObject(choice["message"])) return false;
  const { tool_calls: calls } = choice["message"];
  return !Array.isArray(calls) || calls.every(isObject);
}

/**
 * Returns the error in a frame. Vendors send an error in the field `error`, as the frame itself (Mistral, SGLang), in
 * the object `x_groq` (Groq) or in a choice (OpenRouter).
 */
export function errorOf(event: Record<string, unknown>): unknown {
  const { error, x_groq: groq, choices, object } = event;
  if (error) return error;
  if (object === "error") return event;
  if (isObject(groq) && groq["error"]) return groq["error"];
  return firstChoice(choices)?.["error"];
}

/** Returns the error for an error event in a running stream. The event may contain an HTTP status in `code`. */
export function inStreamError(error: unknown): UpstreamError {
  const { type = "", code = "", message = error } = isObject(error) ? error : {};
  const label = `${String(type)} ${String(code)}`.replace(/[^\w./ -]/g, "?").slice(0, 100);
  const words = String(message);
  const named = kindOfCode(String(code)) ?? kindOfCode(String(type)) ?? kindOfSentence(words);
  const isTooLong = mayBeTooLong(named) && saysContextExceeded(words);
  const kind = isTooLong ? "too_long" : (named ?? kindOfStatus(code));
  return new UpstreamError(kind, `error inside the stream: ${label}`, {
    vendorMessage: words.slice(0, 300),
    retryAfterSeconds: kind === "limited" ? retrySecondsOf(words) : undefined,
  });
}

function kindOfStatus(code: unknown): UpstreamErrorKind {
  const status = Number(code);
  if (status === 401 || status === 402) return "account";
  if (status === 413) return "too_large";
  if (status === 400 || status === 422) return "rejected";
  return status === 429 ? "limited" : "overloaded";
}

/** Returns the usage of a chunk: in the chunk itself, in a choice (Moonshot) or in the object `x_groq` (Groq). */
export function usageOf({ usage, choices, x_groq: groq }: Record<string, unknown>): unknown {
  return usage ?? firstChoice(choices)?.["usage"] ?? (isObject(groq) ? groq["usage"] : undefined);
}

export function firstChoice(choices: unknown): Record<string, unknown> | undefined {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? first : undefined;
}

/** Finish reasons of OpenAI, and other names that DeepSeek, Mistral, Zhipu, SGLang and OpenRouter use for them. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "refused",
  sensitive: "refused",
};

/** Finish reasons for a failure of the vendor (DeepSeek, SGLang, Mistral and OpenRouter, Zhipu). */
const FAILURES: ReadonlySet<string> = new Set([
  "insufficient_system_resource",
  "abort",
  "error",
  "network_error",
]);

/** Throws an `UpstreamError` if the finish reason means a failure of the vendor. */
export function refuseFailure(reason: unknown): void {
  if (typeof reason === "string" && FAILURES.has(reason))
    throw new UpstreamError("overloaded", `the reply ended with ${reason}`);
}

/** Reads `finish_reason`; null while the reply continues. Throws an `UpstreamError` for a failure of the vendor. */
export function readFinish(value: unknown, hasCalls: boolean): Finish | null {
  // DashScope sends the text "null" instead of null.
  if (typeof value !== "string" || value === "null") return null;
  refuseFailure(value);
  const reason = ownValue(REASONS, value) ?? "stop";
  // Many servers send `stop` although the reply ends with tool calls.
  return { reason: reason === "stop" && hasCalls ? "tool_calls" : reason, stopSequence: null };
}

export function writeFinish({ reason }: Finish): string {
  return reason === "refused" ? "content_filter" : reason;
}
