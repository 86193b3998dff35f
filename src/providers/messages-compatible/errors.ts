import { kindOfType } from "../../dialects/messages/index.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { type FailureReading } from "../transport/vendor-errors.ts";
import { ownValue } from "../../lib/own-value.ts";

/**
 * Kinds of limits that do not end by waiting (Anthropic API, "Errors"): they come with the type of a mere rate limit.
 */
const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  enforced_spend_limit_reached: "account",
  contract_spend_limit_reached: "account",
};

/** Kinds of errors that have the type of an invalid request and no code, by the vendor's words. */
const KIND_BY_SENTENCE: readonly (readonly [sentence: RegExp, kind: UpstreamErrorKind])[] = [
  [/credit balance is too low|reached your specified .{0,20}usage limits/i, "account"],
  [/blocked by content filtering/i, "refused"],
];
const CONTEXT_EXCEEDED = /prompt is too long|exceeds? (?:the )?(?:model's )?context (?:limit|window)/i;

/** Reads a failure of Anthropic or of another vendor of the messages protocol. */
export function readMessagesFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const { error } = body;
  const { type, message, details } = isObject(error) ? error : { ...body, message: error ?? body["message"] };
  const code = isObject(details) ? textOf(details["error_code"]) : "";
  const sentence = textOf(message);
  const bySentence = KIND_BY_SENTENCE.find(([words]) => words.test(sentence))?.[1];
  const byCode = ownValue(KIND_BY_CODE, code);
  const kind = byCode ?? bySentence ?? kindOfType(type);
  return {
    code: [textOf(type), code].filter(Boolean).join("/"),
    message: sentence,
    isContextExceeded: CONTEXT_EXCEEDED.test(sentence),
    ...(kind ? { kind } : httpStatus < 300 && { kind: "overloaded" }),
  };
}
