import type { GatewayError } from "../../domain/gateway-error.ts";
import { ERROR_TYPES } from "../openai-error-codes.ts";

/**
 * The body of an error of chat completions. Its `code` is the gateway's error code, except that a failed authentication
 * has the code in `type`.
 */
interface ChatErrorBody {
  error: { code?: string; message: string; type: string; param: string | null };
}

/** Writes an error in the form of chat completions. */
export function writeError({ code, kind, message, param }: GatewayError): ChatErrorBody {
  if (kind === "access") return { error: { message, type: code, param } };
  return { error: { code, message, type: ERROR_TYPES[kind], param } };
}
