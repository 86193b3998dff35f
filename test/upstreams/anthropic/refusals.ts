import type { Behaviour, Fault } from "../behaviour.ts";
import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";

/** An error response in the vendor's envelope (Anthropic API, "Errors"). */
export interface Refusal {
  status: number;
  type: string;
  message: string;
  code?: string;
  headers?: Record<string, string>;
}

export const REQUEST_ID = "req_simulated0001";

export async function refuse(response: SimulatedResponse, refusal: Refusal): Promise<void> {
  const { status, type, message, code, headers } = refusal;
  const error = { type, message, ...(code && { details: { error_code: code } }) };
  const body = { type: "error", error, request_id: REQUEST_ID };
  await sendJson(response, status, body, {}, { "request-id": REQUEST_ID, ...headers });
}

export function invalid(message: string): Refusal {
  return { status: 400, type: "invalid_request_error", message };
}

export const WRONG_KEY: Refusal = { status: 401, type: "authentication_error", message: "invalid x-api-key" };
export const NOT_FOUND: Refusal = { status: 404, type: "not_found_error", message: "Not found" };

const BY_FAULT: Partial<Record<Fault, Refusal>> = {
  "rate-limited": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit of 50 requests per minute.",
  },
  "spend-limit": {
    status: 429,
    type: "rate_limit_error",
    message: "You have reached your spend limit.",
    code: "enforced_spend_limit_reached",
  },
  "insufficient-quota": invalid(
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  ),
  "context-length": invalid("prompt is too long: 213462 tokens > 200000 maximum"),
  "content-refused": invalid("Output blocked by content filtering policy"),
  forbidden: {
    status: 403,
    type: "permission_error",
    message: "Your account does not have access to this resource.",
  },
  "unknown-model": { status: 404, type: "not_found_error", message: "model: claude-none" },
  unauthorized: WRONG_KEY,
};

const TYPE_BY_STATUS: Readonly<Record<number, string>> = {
  402: "billing_error",
  413: "request_too_large",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** Returns the error of a behaviour. */
export function findRefusal(behaviour: Behaviour, key: string): Refusal | undefined {
  const { fault, status = 500, retryAfter } = behaviour;
  const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  if (fault === "echo-authorization") return invalid(`Bad header x-api-key: ${key}. Send another one.`);
  if (fault === "error-status")
    return { status, type: TYPE_BY_STATUS[status] ?? "api_error", message: "Trouble", headers };
  const refusal = fault && BY_FAULT[fault];
  return refusal && { ...refusal, headers };
}
