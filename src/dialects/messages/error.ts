import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error on messages. That of a missing key or a blocked address has no top-level `type`. */
type MessagesErrorBody =
  | { type: "error"; error: { type: string; message: string }; request_id?: string }
  | { error: { type: string; message: string } };

/** The values of `type` that official clients know (Anthropic API, "Errors"). */
const TYPES = {
  parameter: "invalid_request_error",
  authentication: "authentication_error",
  permission: "permission_error",
  not_found: "not_found_error",
  limit: "rate_limit_error",
  server: "api_error",
  overload: "overloaded_error",
} as const;

/** Writes an error as the messages protocol does. A stream has no place for the request's id. */
export function writeError(error: GatewayError, requestId?: string): MessagesErrorBody {
  const { code, kind, message } = error;
  if (kind === "access") return { error: { type: code, message } };
  const body = { type: "error" as const, error: { type: typeOf(error), message } };
  return requestId === undefined ? body : { ...body, request_id: requestId };
}

function typeOf({ code, kind, status }: GatewayError): string {
  if (code === "payload_too_large") return "request_too_large";
  if (kind === "billing") return status === 429 ? TYPES.limit : TYPES.parameter;
  return kind === "access" ? code : TYPES[kind];
}
