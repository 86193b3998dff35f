import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error on chat: its code is in `code`, that of a refused authentication in `type`. */
interface ChatErrorBody {
  error: { code?: string; message: string; type: string; param: string | null };
}

/** The values of `type` that OpenAI's clients know. */
export const ERROR_TYPES = {
  parameter: "invalid_request_error",
  access: "authentication_error",
  authentication: "authentication_error",
  billing: "insufficient_quota",
  permission: "permission_error",
  not_found: "invalid_request_error",
  limit: "rate_limit_exceeded",
  server: "server_error",
  overload: "server_error",
} as const satisfies Record<GatewayError["kind"], string>;

/** Writes an error as chat completions do. */
export function writeError({ code, kind, message, param }: GatewayError): ChatErrorBody {
  if (kind === "access") return { error: { message, type: code, param } };
  return { error: { code, message, type: ERROR_TYPES[kind], param } };
}
