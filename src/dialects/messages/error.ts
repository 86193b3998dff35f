import type { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, ownValue } from "../../lib/json.ts";

/** The body of an error of the messages protocol; only `error` after a missing key or a refused address. */
type MessagesErrorBody =
  | { type: "error"; error: { type: string; message: string; details?: object }; request_id?: string }
  | { error: { type: string; message: string } };

/** The error types that official clients know, by the gateway's kind of error (Anthropic API, "Errors"). */
const TYPES = {
  parameter: "invalid_request_error",
  authentication: "authentication_error",
  permission: "permission_error",
  not_found: "not_found_error",
  limit: "rate_limit_error",
  server: "api_error",
  overload: "overloaded_error",
} as const;

/** The field that continues a conversation stored at the vendor (Anthropic API, `message-threads-2026-08-12`). */
export const THREAD = "thread";

/** Error details after which the tool runners of official clients send the whole history instead of a thread. */
const UNTHREADED = { error_code: "thread_unsupported_request", unsupported: [THREAD] } as const;

/** Writes an error in the form of the messages protocol. An error inside a stream has no request id. */
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

/** The gateway's kind of failure for each error type of the protocol (Anthropic API, "Errors"). */
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

/** Returns the kind of failure for an error type; undefined for an unknown type. */
export function kindOfType(type: unknown): UpstreamErrorKind | undefined {
  return typeof type === "string" ? ownValue(KIND_BY_TYPE, type) : undefined;
}

/** True when the message says that the input exceeds the model's context. The error type does not show this. */
export function saysTooLong(sentence: string): boolean {
  return /prompt is too long|exceeds? (?:the )?(?:model's )?context (?:limit|window)/i.test(sentence);
}

/** Returns the error for a failure that a vendor reports in a successful response or in a running stream. */
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
