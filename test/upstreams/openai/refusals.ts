import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import type { Fault, Behaviour } from "../behaviour.ts";

/** An error response in the vendor's envelope (OpenAI error codes guide). */
export interface Refusal {
  status: number;
  message: string;
  type: string;
  code: string | null;
  param?: string | null;
  headers?: Record<string, string>;
}

export async function refuse(response: SimulatedResponse, refusal: Refusal): Promise<void> {
  const { status, message, type, code, param = null, headers } = refusal;
  await sendJson(response, status, { error: { message, type, param, code } }, {}, headers);
}

export function invalid(message: string, param: string | null, code: string | null = null): Refusal {
  return { status: 400, message, type: "invalid_request_error", code, param };
}

export const WRONG_KEY: Refusal = {
  status: 401,
  message:
    "Incorrect API key provided: sk-simu***cdef. You can find your key at https://platform.openai.com.",
  type: "invalid_request_error",
  code: "invalid_api_key",
};

export const UNKNOWN_URL: Refusal = {
  status: 404,
  message: "Invalid URL",
  type: "invalid_request_error",
  code: null,
};

export function unknownModel(model: string): Refusal {
  return {
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: "invalid_request_error",
    code: "model_not_found",
  };
}

const BY_FAULT: Partial<Record<Fault, Refusal>> = {
  "rate-limited": {
    status: 429,
    message: "Rate limit reached on requests per min: Limit 5, Used 5, Requested 1. Please try again in 12s.",
    type: "requests",
    code: "rate_limit_exceeded",
  },
  "insufficient-quota": {
    status: 429,
    message: "You exceeded your current quota, please check your behaviour and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  "context-length": invalid(
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "messages",
    "context_length_exceeded",
  ),
  "content-refused": {
    status: 400,
    message:
      "Your request was rejected by the safety system. If you believe this is an error, contact us at " +
      "help.openai.com and include the request ID req_0123456789abcdef.",
    type: "image_generation_user_error",
    code: "moderation_blocked",
  },
  "error-in-200": { status: 200, message: "Provider returned error", type: "", code: "502" },
  forbidden: { status: 403, message: "Country not supported", type: "request_forbidden", code: null },
  "unknown-model": unknownModel("some-model"),
  unauthorized: WRONG_KEY,
};

/** Returns the error of a behaviour. */
export function findRefusal(behaviour: Behaviour, authorization: string): Refusal | undefined {
  const headers = behaviour.retryAfter === undefined ? undefined : { "retry-after": behaviour.retryAfter };
  if (behaviour.fault === "echo-authorization")
    return invalid(`Bad header Authorization: ${authorization}. Send another one.`, null);
  if (behaviour.fault === "error-status")
    return { status: behaviour.status ?? 500, message: "Trouble", type: "server_error", code: null, headers };
  const refusal = behaviour.fault && BY_FAULT[behaviour.fault];
  return refusal && { ...refusal, headers };
}
