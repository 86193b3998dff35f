import { writeError as writeChatError } from "../dialects/chat/index.ts";
import { writeError as writeImageError } from "../dialects/images/error.ts";
import { writeError as writeNativeError } from "../dialects/native/error.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { rateHeaders } from "../dialects/rate-headers.ts";
import { DependencyError } from "../gateway/ports.ts";
import type { ErrorFamily } from "./routes.ts";

/** The body of an error in the words of each family. */
const WRITERS: Readonly<Record<ErrorFamily, (error: GatewayError, requestId: string) => object>> = {
  chat: writeChatError,
  images: writeImageError,
  native: writeNativeError,
};

/** Renders an error in the shape of its route family. */
export function errorResponse(
  error: GatewayError,
  family: ErrorFamily,
  requestId: string,
  extra: Readonly<Record<string, string>> = {},
): Response {
  const body = WRITERS[family](error, requestId);
  const headers: Record<string, string> = { ...idHeaders(requestId), ...extra };
  if (error.rate) Object.assign(headers, rateHeaders(error.rate, "chat"));
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.shouldRetry === false) headers["x-should-retry"] = "false";
  return Response.json(body, { status: error.status, headers });
}

/** Every answer of every route carries its id; clients of one protocol or another look in different places. */
export function idHeaders(requestId: string): Record<string, string> {
  return { "x-gateway-request-id": requestId, "x-request-id": requestId };
}

/**
 * What a thrown value is to the caller: a deliberate answer, something the gateway depends on that is away, or a bug
 * of which nothing is told.
 */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof DependencyError) {
    const message = "The gateway cannot reach what it needs just now. Retry shortly.";
    return new GatewayError("dependency_unavailable", message, { retryAfterSeconds: 2, cause: thrown });
  }
  if (isShortage(thrown)) {
    const message = "The gateway is short of room just now. Retry shortly.";
    return new GatewayError("dependency_unavailable", message, { retryAfterSeconds: 2, cause: thrown });
  }
  return new GatewayError("internal_error", "The gateway failed. Retry later.", { cause: thrown });
}

/** A disk that is full or takes no writes, or no more file handles: what the machine lacks, not a bug. */
function isShortage(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^(ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE)$/.test(code);
}
