import type { TokenUsage } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, parseJson, scanObject, splice } from "../../lib/json.ts";
import { estimateTokens, readUsage } from "./usage.ts";

/** A whole answer as it will be sent, and what it cost. */
export interface ChatReply {
  bytes: Uint8Array<ArrayBuffer>;
  usage: TokenUsage;
}

/** An answer as it came, and its reading where whoever fetched it had to read it. */
interface WholeAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  parsed?: unknown;
}

/**
 * Reads a whole answer. Its bytes stay as the upstream said them, but for the model name. Throws an
 * `UpstreamError` when it is not an answer.
 */
export function readReply(
  { bytes, parsed }: WholeAnswer,
  publicModel: string,
  inputBytes: number,
): ChatReply {
  const body = parsed ?? parsedBytes(bytes);
  if (!isObject(body) || !Array.isArray(body["choices"])) {
    throw new UpstreamError("broken", "the answer has no choices");
  }
  const usage = readUsage(body["usage"]) ?? estimateUsage(inputBytes, deliveredBytes(body["choices"]));
  if (body["model"] === publicModel) return { bytes, usage };
  const [model] = scanObject(bytes, ["model"]).spans;
  if (!model) return { bytes, usage };
  return { bytes: splice(bytes, [{ span: model, text: JSON.stringify(publicModel) }]), usage };
}

function parsedBytes(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
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
