import { parseBounded } from "../../lib/parse-json.ts";
import {
  kindOfCode,
  kindOfSentence,
  mayBeTooLong,
  retrySecondsOf,
  saysContextExceeded,
} from "../../dialects/openai-error-codes.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { readDetail, type FailureReading, type ReadFailure } from "../transport/vendor-errors.ts";

/** Error kinds of the codes that a vendor uses in another sense than OpenAI. */
export type OwnCodes = ReadonlyMap<string, UpstreamErrorKind>;

/**
 * Returns the function that reads failures of OpenAI or a compatible vendor. It reads nested errors, flat errors
 * (Mistral, SGLang, xAI) and FastAPI's `detail`. The code takes precedence over the status, because an empty balance
 * has status 429 and a refusal has status 400 (OpenAI error codes).
 */
export function openAiFailures(ownCodes?: OwnCodes): ReadFailure {
  return (body, httpStatus) => {
    const error = errorOf(body);
    const code = textOf(error["code"]);
    const type = textOf(error["type"]);
    const { message, param } = wordsOf(error);
    const found =
      ownCodes?.get(code) ??
      kindOfCode(code) ??
      kindOfCode(type) ??
      kindOfCode(reasonOf(error["details"])) ??
      kindOfSentence(message) ??
      (isFlagged(error["metadata"]) ? "refused" : undefined);
    const kind = mayBeTooLong(found) && saysContextExceeded(message) ? "too_long" : found;
    return {
      code: [type, code].filter(Boolean).join("/"),
      message,
      param: textOf(error["param"]) || param,
      retryAfterSeconds: retrySecondsOf(message),
      ...(kind ? { kind } : readSuccess(code, type, httpStatus)),
    };
  };
}

export const readOpenAiFailure = openAiFailures();

function errorOf(body: Record<string, unknown>): Record<string, unknown> {
  const nested = body["error"];
  return isObject(nested) ? nested : { message: nested, ...body };
}

/** Reads message and parameter of an error. If the message is a list of problems (Mistral), the first counts. */
function wordsOf(error: Record<string, unknown>): Pick<FailureReading, "message" | "param"> {
  const message = parsed(error["message"]);
  if (isObject(message)) return readDetail(message);
  if (Array.isArray(message)) return readDetail({ detail: message });
  return message === undefined && error["detail"] !== undefined
    ? readDetail(error)
    : { message: textOf(message) };
}

function parsed(message: unknown): unknown {
  if (typeof message !== "string" || !message.startsWith('{"detail"')) return message;
  try {
    return parseBounded(message);
  } catch {
    return message;
  }
}

/** Reads the reason in Google's error details. */
function reasonOf(details: unknown): string {
  if (!Array.isArray(details)) return "";
  return details.map((detail) => (isObject(detail) ? textOf(detail["reason"]) : "")).find(Boolean) ?? "";
}

/** True when an error's metadata mentions flagged content. Such errors have status 403 (OpenRouter API, moderation). */
function isFlagged(metadata: unknown): boolean {
  return isObject(metadata) && "flagged_input" in metadata;
}

/** True when a response with a success status contains an error. */
export function hasError(response: unknown): boolean {
  return Array.isArray(response) ? hasError(response[0]) : isObject(response) && Boolean(response["error"]);
}

/**
 * Reads the kind of an error in a response with a success status. A vendor that forwards to another vendor puts the
 * other vendor's status into the code.
 */
function readSuccess(code: string, type: string, httpStatus: number): Partial<FailureReading> {
  if (httpStatus >= 300) return {};
  if (/^[45]\d\d$/.test(code)) return { status: Number(code) };
  return { kind: type === "invalid_request_error" ? "rejected" : "overloaded" };
}
