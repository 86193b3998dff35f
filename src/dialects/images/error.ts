import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error on images, jobs, models and prices. Every key is always present. */
interface ImageErrorBody {
  error: { message: string; type: string; param: string | null; code: string; request_id: string };
}

/** Writes an error of the image interface: parameter errors are of type `bad_request`. */
export function writeError({ code, kind, message, param }: GatewayError, requestId: string): ImageErrorBody {
  const type = kind === "parameter" ? "bad_request" : code;
  return { error: { message, type, param, code, request_id: requestId } };
}
