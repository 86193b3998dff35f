import { parseBounded } from "../../lib/bounded-json.ts";
import {
  CONTEXT_EXCEEDED,
  kindOfCode,
  kindOfSentence,
  retrySecondsOf,
  saysContextExceeded,
} from "../../dialects/openai-error-codes.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { readDetail, type FailureReading, type ReadFailure } from "../transport/vendor-errors.ts";

/** What a vendor means by codes that OpenAI uses in another sense. */
export type OwnCodes = ReadonlyMap<string, UpstreamErrorKind>;

/**
 * Reads failures of OpenAI or a compatible vendor: nested, or flat as Mistral, SGLang and xAI send them, or the
 * `detail` of FastAPI. The code takes precedence over the status, since an empty balance comes as 429 and a refusal
 * as 400 (OpenAI error codes).
 */
export function openAiFailures(ownCodes?: OwnCodes): ReadFailure {
  return (body, httpStatus) => {
    const error = errorOf(body);
    const code = textOf(error["code"]);
    const type = textOf(error["type"]);
    const { message, param } = wordsOf(error);
    const isContextExceeded = code === CONTEXT_EXCEEDED || saysContextExceeded(message);
    const kind =
      ownCodes?.get(code) ??
      kindOfCode(code) ??
      kindOfCode(type) ??
      kindOfCode(reasonOf(error["details"])) ??
      kindOfSentence(message) ??
      (isFlagged(error["metadata"]) ? "refused" : undefined);
    return {
      code: [type, code].filter(Boolean).join("/"),
      message,
      param: textOf(error["param"]) || param,
      isContextExceeded,
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

/** Message and parameter; those of the first problem in a list, which Mistral puts in the place of its message. */
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

/** Of Google's error details. */
function reasonOf(details: unknown): string {
  if (!Array.isArray(details)) return "";
  return details.map((detail) => (isObject(detail) ? textOf(detail["reason"]) : "")).find(Boolean) ?? "";
}

/** OpenRouter API, "Errors", moderation: what was flagged is in the metadata of a 403. */
function isFlagged(metadata: unknown): boolean {
  return isObject(metadata) && "flagged_input" in metadata;
}

/** Whether a parsed response of success carries an error. */
export function hasError(response: unknown): boolean {
  return Array.isArray(response) ? hasError(response[0]) : isObject(response) && Boolean(response["error"]);
}

/** Of an error inside a response of success, in whose code relays put the status of the vendor behind them. */
function readSuccess(code: string, type: string, httpStatus: number): Partial<FailureReading> {
  if (httpStatus >= 300) return {};
  if (/^[45]\d\d$/.test(code)) return { status: Number(code) };
  return { kind: type === "invalid_request_error" ? "rejected" : "overloaded" };
}
