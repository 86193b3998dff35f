import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Finish, FinishReason } from "../conversation/reply.ts";
import { ownValue } from "../../lib/own-value.ts";

/** Vendors' own words beside OpenAI's: DeepSeek, Mistral, Zhipu, SGLang, OpenRouter. */
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

/** Of a vendor that gave up (DeepSeek, SGLang, Mistral and OpenRouter, Zhipu). */
const FAILURES: ReadonlySet<string> = new Set([
  "insufficient_system_resource",
  "abort",
  "error",
  "network_error",
]);

/** Throws an `UpstreamError` for a `finish_reason` that says that the vendor gave up. */
export function refuseFailure(reason: unknown): void {
  if (typeof reason === "string" && FAILURES.has(reason))
    throw new UpstreamError("overloaded", `the reply ended with ${reason}`);
}

/** Reads `finish_reason`; null while the reply goes on. Throws an `UpstreamError` where it is a failure. */
export function readFinish(value: unknown, hasCalls: boolean): Finish | null {
  // DashScope has the word in its place.
  if (typeof value !== "string" || value === "null") return null;
  refuseFailure(value);
  const reason = ownValue(REASONS, value) ?? "stop";
  // Many servers say `stop` after calls.
  return { reason: reason === "stop" && hasCalls ? "tool_calls" : reason, stopSequence: null };
}

export function writeFinish({ reason }: Finish): string {
  return reason === "refused" ? "content_filter" : reason;
}
