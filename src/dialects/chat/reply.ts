import type { TokenUsage } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, scanObject, splice } from "../../lib/json.ts";
import { estimateTokens, readUsage } from "./usage.ts";

/** A whole answer as it will be sent, and what it cost. */
export interface ChatReply {
  text: string;
  usage: TokenUsage;
}

/** An answer as it came, and its reading where whoever fetched it had to read it. */
interface WholeResponse {
  text: string;
  parsed?: unknown;
}

/**
 * Reads a whole answer. It stays as the upstream said it, but for the model name. Throws an
 * `UpstreamError` when it is not an answer.
 */
export function readReply(
  { text, parsed }: WholeResponse,
  publicModel: string,
  inputBytes: number,
): ChatReply {
  const body = parsed ?? parsedText(text);
  if (!isObject(body) || !Array.isArray(body["choices"])) {
    throw new UpstreamError("broken", "the answer has no choices");
  }
  const usage = readUsage(body["usage"]) ?? estimateUsage(inputBytes, deliveredBytes(body["choices"]));
  if (body["model"] === publicModel) return { text, usage };
  const [model] = scanObject(text, ["model"]).spans;
  if (!model) return { text, usage };
  return { text: splice(text, [{ span: model, text: JSON.stringify(publicModel) }]), usage };
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UpstreamError("broken", "the answer is not JSON", { cause });
  }
}

/** Usage from the sizes of what was said, for an upstream that did not count. */
export function estimateUsage(inputBytes: number, outputBytes: number): TokenUsage {
  return {
    unit: "token",
    tokens: { input: estimateTokens(inputBytes), output: estimateTokens(outputBytes) },
    source: "estimated",
  };
}

/** Bytes of the text and of the tool arguments the caller receives. */
function deliveredBytes(choices: readonly unknown[]): number {
  let bytes = 0;
  for (const choice of choices) {
    const message = isObject(choice) ? (choice["message"] ?? choice["delta"]) : undefined;
    if (isObject(message)) bytes += contentBytes(message);
  }
  return bytes;
}

/** Bytes of everything in a message or delta that a vendor would count as output. */
export function contentBytes(message: Record<string, unknown>): number {
  const { content, tool_calls: toolCalls } = message;
  let bytes = 0;
  for (const text of [content, message["reasoning_content"], message["reasoning"], message["refusal"]]) {
    if (typeof text === "string") bytes += Buffer.byteLength(text);
    else if (text) bytes += Buffer.byteLength(JSON.stringify(text));
  }
  if (Array.isArray(toolCalls) && toolCalls.length > 0) bytes += Buffer.byteLength(JSON.stringify(toolCalls));
  return bytes;
}
