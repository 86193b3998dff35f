import { writeError as writeChatError } from "../dialects/chat/index.ts";
import { writeError as writeImageError } from "../dialects/images/error.ts";
import { writeError as writeMessagesError } from "../dialects/messages/index.ts";
import { writeError as writeNativeError } from "../dialects/native/error.ts";
import { writeError as writeResponsesError } from "../dialects/responses/index.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import { rateHeaders } from "../dialects/rate-headers.ts";
import type { ErrorFamily } from "./routes.ts";

/** The writer of error bodies of each route family. */
const WRITERS: Readonly<Record<ErrorFamily, (error: GatewayError, requestId: string) => object>> = {
  chat: writeChatError,
  messages: writeMessagesError,
  responses: writeResponsesError,
  images: writeImageError,
  native: writeNativeError,
  admin: ({ status, message, param }, requestId) =>
    adminErrorBody(status, message, { field: param, requestId }),
};

const ADMIN_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_input",
  401: "not_signed_in",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  429: "too_many_requests",
};

/** Returns the body of an error of the administrative interface; `field` is the path of the wrong input field. */
export function adminErrorBody(
  status: number,
  message: string,
  { field, requestId, type = adminType(status) }: { field: string | null; requestId: string; type?: string },
): object {
  return { error: { type, message, field }, requestId };
}

function adminType(status: number): string {
  return ADMIN_TYPES[status] ?? (status < 500 ? "invalid_input" : "unavailable");
}

/** Renders an error in the shape of its route family. */
export function errorResponse(
  error: GatewayError,
  family: ErrorFamily,
  requestId: string,
  extra: Readonly<Record<string, string>> = {},
): Response {
  const body = WRITERS[family](error, requestId);
  const headers: Record<string, string> = { ...baseHeaders(requestId), ...extra };
  if (error.limitState)
    Object.assign(headers, rateHeaders(error.limitState, family === "messages" ? family : "chat"));
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.shouldRetry === false) headers["x-should-retry"] = "false";
  return Response.json(body, { status: error.status, headers });
}

/**
 * Returns the headers of every response: its request id, under the names that clients of each protocol read, and
 * headers that forbid caching and guessing the type. An endpoint whose responses may be cached sets its own
 * `cache-control`.
 */
export function baseHeaders(requestId: string): Record<string, string> {
  return {
    "x-gateway-request-id": requestId,
    "x-request-id": requestId,
    "request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
}
