import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error for images, jobs, models and prices. All fields are always present. */
interface ImageErrorBody {
  error: { message: string; type: string; param: string | null; code: string; request_id: string };
}

/** Writes an error in the form of the image interface. An error of a parameter has the type `bad_request`. */
export function writeError({ code, kind, message, param }: GatewayError, requestId: string): ImageErrorBody {
  const type = kind === "parameter" ? "bad_request" : code;
  return { error: { message, type, param, code, request_id: requestId } };
}
