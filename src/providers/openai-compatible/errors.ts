import { CONTEXT_EXCEEDED, kindOfCode } from "../../dialects/openai-error-codes.ts";
import { isObject } from "../../lib/json.ts";
import { textOf, type FailureReading } from "../transport/vendor-errors.ts";

/**
 * Reads a failure of OpenAI or a compatible vendor: nested, or flat as Mistral, SGLang and xAI send it. The code
 * takes precedence over the status, since an empty balance comes as 429 and a refusal as 400 (OpenAI error codes).
 */
export function readOpenAiFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const nested = body["error"];
  const error = isObject(nested) ? nested : { message: nested, ...body };
  const code = textOf(error["code"]);
  const type = textOf(error["type"]);
  const kind = kindOfCode(code) ?? kindOfCode(type);
  return {
    code: [type, code].filter(Boolean).join("/"),
    message: textOf(error["message"]),
    param: textOf(error["param"]),
    isContextExceeded: code === CONTEXT_EXCEEDED,
    ...(kind ? { kind } : readSuccess(code, type, httpStatus)),
  };
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
