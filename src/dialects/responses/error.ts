import type { GatewayError } from "../../domain/gateway-error.ts";
import { ERROR_TYPES } from "../openai-error-codes.ts";

/** The body of an error (OpenAI responses reference). */
interface ResponsesErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}

/** Writes an error as the responses protocol does. */
export function writeError({ code, kind, message, param }: GatewayError): ResponsesErrorBody {
  return { error: { message, type: ERROR_TYPES[kind], param, code } };
}

/** The code of a failed response, of the list that clients know (OpenAI responses reference, `ResponseError`). */
export function failedCode({ kind }: GatewayError): string {
  if (kind === "limit") return "rate_limit_exceeded";
  return kind === "parameter" ? "invalid_prompt" : "server_error";
}
