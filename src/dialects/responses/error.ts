import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error (OpenAI responses reference). */
interface ResponsesErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}

/** The values of `type` that official clients know. */
const TYPES = {
  parameter: "invalid_request_error",
  access: "authentication_error",
  authentication: "authentication_error",
  billing: "insufficient_quota",
  permission: "permission_error",
  not_found: "invalid_request_error",
  limit: "rate_limit_exceeded",
  server: "server_error",
  overload: "server_error",
} as const;

/** Writes an error as the responses protocol does. */
export function writeError({ code, kind, message, param }: GatewayError): ResponsesErrorBody {
  return { error: { message, type: TYPES[kind], param, code } };
}

/** The code of a failed response, of the list that clients know (OpenAI responses reference, `ResponseError`). */
export function failedCode({ kind }: GatewayError): string {
  if (kind === "limit") return "rate_limit_exceeded";
  return kind === "parameter" ? "invalid_prompt" : "server_error";
}
