import { kindOfType, saysTooLong } from "../../dialects/messages/index.ts";
import { mayBeTooLong } from "../../dialects/openai-error-codes.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf, ownValue } from "../../lib/json.ts";
import { type FailureReading } from "../transport/vendor-errors.ts";

/** Kinds of limits that do not end by waiting. Their errors have the type of a rate limit (Anthropic API, "Errors"). */
const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  enforced_spend_limit_reached: "account",
  contract_spend_limit_reached: "account",
};

/**
 * Error kinds by the vendor's words, for errors without a known code. Their type says only that the request is invalid.
 */
const KIND_BY_SENTENCE: readonly (readonly [sentence: RegExp, kind: UpstreamErrorKind])[] = [
  [/credit balance is too low|reached your specified .{0,20}usage limits/i, "account"],
  [/blocked by content filtering/i, "refused"],
];

/** Reads a failure of Anthropic or of another vendor of the messages protocol. */
export function readMessagesFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const { error } = body;
  const { type, message, details } = isObject(error) ? error : { ...body, message: error ?? body["message"] };
  const code = isObject(details) ? textOf(details["error_code"]) : "";
  const sentence = textOf(message);
  const bySentence = KIND_BY_SENTENCE.find(([words]) => words.test(sentence))?.[1];
  const byCode = ownValue(KIND_BY_CODE, code);
  const found = byCode ?? bySentence ?? kindOfType(type);
  const kind = mayBeTooLong(found) && saysTooLong(sentence) ? "too_long" : found;
  return {
    code: [textOf(type), code].filter(Boolean).join("/"),
    message: sentence,
    ...(kind ? { kind } : httpStatus < 300 && { kind: "overloaded" }),
  };
}
