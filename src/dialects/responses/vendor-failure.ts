import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import {
  CONTEXT_EXCEEDED,
  kindOfCode,
  kindOfSentence,
  retrySecondsOf,
  saysContextExceeded,
} from "../openai-error-codes.ts";

/**
 * The failure that a vendor reports in a response of success or inside a stream: the `error` of a failed response, or
 * an event with it, flat or nested (OpenAI responses reference). One without a known code is the vendor's own trouble.
 */
export function reportedFailure(value: unknown): UpstreamError {
  const outer = isObject(value) ? value : { message: value };
  const { type, code, message } = isObject(outer["error"]) ? outer["error"] : outer;
  const words = textOf(message);
  const isContextExceeded = code === CONTEXT_EXCEEDED || saysContextExceeded(words);
  const kind = isContextExceeded
    ? "rejected"
    : (kindOfCode(textOf(code)) ?? kindOfCode(textOf(type)) ?? kindOfSentence(words));
  // Another account's reasoning: another target may be the one that can decrypt it.
  if (code === "invalid_encrypted_content")
    return new UpstreamError("broken", "reasoning of another account", { isByRequest: true });
  const named = [type, code].map(textOf).filter(Boolean).join("/");
  return new UpstreamError(
    kind ?? (type === "invalid_request_error" ? "rejected" : "overloaded"),
    `error inside the response: ${named.replace(/[^\w./ -]/g, "?").slice(0, 100)}`,
    {
      vendorMessage: words.slice(0, 300),
      isContextExceeded,
      retryAfterSeconds: kind === "limited" ? retrySecondsOf(words) : undefined,
    },
  );
}
