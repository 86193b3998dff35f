import type { GatewayError } from "../../domain/gateway-error.ts";
import { errorType } from "../openai-error-codes.ts";

/**
 * The body of an error of chat completions. `code` is the gateway's error code. After a missing key or a refused
 * address, `type` contains this code and `code` is absent.
 */
interface ChatErrorBody {
  error: { code?: string; message: string; type: string; param: string | null };
}

/** Writes an error in the form of chat completions. */
export function writeError(error: GatewayError): ChatErrorBody {
  const { code, kind, message, param } = error;
  if (kind === "access") return { error: { message, type: code, param } };
  return { error: { code, message, type: errorType(error), param } };
}
