import type { GatewayError } from "../../domain/gateway-error.ts";
import { ERROR_TYPES } from "../openai-error-codes.ts";

/** The body of an error on chat: its code is in `code`, that of a refused authentication in `type`. */
interface ChatErrorBody {
  error: { code?: string; message: string; type: string; param: string | null };
}

/** Writes an error as chat completions do. */
export function writeError({ code, kind, message, param }: GatewayError): ChatErrorBody {
  if (kind === "access") return { error: { message, type: code, param } };
  return { error: { code, message, type: ERROR_TYPES[kind], param } };
}
