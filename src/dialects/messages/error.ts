import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, ownValue } from "../../lib/json.ts";

/** The body of an error on messages. The body for a missing key or a blocked address has no top-level `type`. */
type MessagesErrorBody =
  | { type: "error"; error: { type: string; message: string; details?: object }; request_id?: string }
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

/** The field that continues a conversation at the vendor (`message-threads-2026-08-12` of the Anthropic API). */
export const THREAD = "thread";

/** Makes official clients send the whole history instead; their tool runners begin with a thread. */
const UNTHREADED = { error_code: "thread_unsupported_request", unsupported: [THREAD] } as const;

/** Writes an error as the messages protocol does. A stream has no place for the request's id. */
export function writeError(error: GatewayError, requestId?: string): MessagesErrorBody {
  const { code, kind, message } = error;
  if (kind === "access") return { error: { type: code, message } };
  const details = error.param === THREAD && { details: UNTHREADED };
  const body = { type: "error" as const, error: { type: typeOf(error), message, ...details } };
  return requestId === undefined ? body : { ...body, request_id: requestId };
}

function typeOf({ code, kind, status }: GatewayError): string {
  if (code === "payload_too_large") return "request_too_large";
  if (kind === "billing") return status === 429 ? TYPES.limit : TYPES.parameter;
  return kind === "access" ? code : TYPES[kind];
}

/** The meaning of the protocol's error types (Anthropic API, "Errors"). */
const KIND_BY_TYPE: Readonly<Record<string, UpstreamErrorKind>> = {
  invalid_request_error: "rejected",
  request_too_large: "too_large",
  authentication_error: "account",
  permission_error: "account",
  billing_error: "account",
  not_found_error: "account",
  rate_limit_error: "limited",
  timeout_error: "overloaded",
  api_error: "overloaded",
  overloaded_error: "overloaded",
};

/** The kind of a failure by its type; undefined for an unknown one. */
export function kindOfType(type: unknown): UpstreamErrorKind | undefined {
  return typeof type === "string" ? ownValue(KIND_BY_TYPE, type) : undefined;
}

/** True for the sentence of an input that is longer than the model's context, which has the type of any invalid request. */
export function saysTooLong(sentence: string): boolean {
  return /prompt is too long|exceeds? (?:the )?(?:model's )?context (?:limit|window)/i.test(sentence);
}

/** The failure that a vendor reports in a response of success, or inside of a running stream. */
export function reportedFailure(error: unknown): UpstreamError {
  const { type = "", message = error } = isObject(error) ? error : {};
  const named = String(type)
    .replace(/[^\w./ -]/g, "?")
    .slice(0, 100);
  const vendorMessage = String(message).slice(0, 300);
  const kind = saysTooLong(vendorMessage) ? "too_long" : (kindOfType(type) ?? "overloaded");
  return new UpstreamError(kind, `error inside the response: ${named}`, {
    vendorMessage,
  });
}
