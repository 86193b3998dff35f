import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import {
  errorType,
  kindOfCode,
  kindOfSentence,
  mayBeTooLong,
  retrySecondsOf,
  saysContextExceeded,
} from "../openai-error-codes.ts";

/** The body of an error (OpenAI responses reference). */
interface ResponsesErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}

/** Writes an error in the form of the responses protocol. */
export function writeError(error: GatewayError): ResponsesErrorBody {
  const { code, message, param } = error;
  return { error: { message, type: errorType(error), param, code } };
}

/**
 * Returns the code of a failed response. Clients know only a fixed list of codes (OpenAI responses reference,
 * `ResponseError`). Codex repeats the request after each of these codes except `invalid_prompt`, whose message it shows
 * (codex-api, `sse/responses.rs`).
 */
function failedCode({ kind, shouldRetry }: GatewayError): string {
  if (kind === "parameter" || shouldRetry === false) return "invalid_prompt";
  return kind === "limit" ? "rate_limit_exceeded" : "server_error";
}

/**
 * Returns the error for a failure that a vendor reports in a successful response or in a stream. `value` is the `error`
 * of a failed response, or an `error` event. An event may contain the error in its field `error` (OpenAI responses
 * reference). A failure counts as a problem of the vendor if its code, type and message are unknown.
 */
export function reportedFailure(value: unknown): UpstreamError {
  const outer = isObject(value) ? value : { message: value };
  const { type, code, message } = isObject(outer["error"]) ? outer["error"] : outer;
  const words = textOf(message);
  const found = kindOfCode(textOf(code)) ?? kindOfCode(textOf(type)) ?? kindOfSentence(words);
  const kind = mayBeTooLong(found) && saysContextExceeded(words) ? "too_long" : found;
  // The reasoning is from another account, so another target may be able to decrypt it.
  if (code === "invalid_encrypted_content")
    return new UpstreamError("broken", "reasoning of another account", { isByRequest: true });
  const named = [type, code].map(textOf).filter(Boolean).join("/");
  return new UpstreamError(
    kind ?? (type === "invalid_request_error" ? "rejected" : "overloaded"),
    `error inside the response: ${named.replace(/[^\w./ -]/g, "?").slice(0, 100)}`,
    {
      vendorMessage: words.slice(0, 300),
      retryAfterSeconds: kind === "limited" ? retrySecondsOf(words) : undefined,
    },
  );
}

/** Returns the text of a frame for an event. */
export function frame(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

/**
 * Writes the last events of a failed stream: `response.failed` if the caller has received the response object, then
 * `error`. The `error` event contains its fields twice, directly and in an `error` object, because older and newer
 * official clients differ (OpenAI responses reference, streaming events). `number` is the next sequence number.
 */
export function failureFrames(
  error: GatewayError,
  response: Readonly<Record<string, unknown>> | null,
  number: number,
): string {
  const { code, message, param } = error;
  let frames = "";
  if (response) {
    const failed = { ...response, status: "failed", error: { code: failedCode(error), message } };
    const data = JSON.stringify({ type: "response.failed", sequence_number: number, response: failed });
    frames = frame("response.failed", data);
  }
  const event = {
    type: "error",
    sequence_number: response ? number + 1 : number,
    code,
    message,
    param,
    ...writeError(error),
  };
  return frames + frame("error", JSON.stringify(event));
}
