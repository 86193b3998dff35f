import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import type { Behaviour } from "../behaviour.ts";

export interface Refusal {
  status: number;
  /** Value of `error`. */
  error: Record<string, unknown>;
  /** Fields beside `error`. */
  beside?: Record<string, unknown>;
}

export async function refuse(
  response: SimulatedResponse,
  refusal: Refusal,
  behaviour: Behaviour = {},
): Promise<void> {
  const { status, error, beside } = refusal;
  await sendJson(response, status, { ...beside, error }, {}, retryHeaders(behaviour));
}

export function invalid(message: string, param: string, code = "invalid_value"): Refusal {
  return { status: 400, error: { message, type: "invalid_request_error", param, code } };
}

/** The vendor's errors, by names for tests (Azure OpenAI image how-to, content filter and quota pages). */
export const REFUSALS: Readonly<Record<string, Refusal>> = {
  contentFilter: {
    status: 400,
    error: { code: "contentFilter", message: "Your task failed as a result of our safety system." },
    beside: { created: 1_790_000_000 },
  },
  contentFilterOfImage: {
    status: 400,
    error: {
      code: "contentFilter",
      message: "Generated image was filtered as a result of our safety system.",
    },
    beside: { created: 1_790_000_000 },
  },
  moderation_blocked: {
    status: 400,
    error: {
      message:
        "Your request was rejected by the safety system. Include the request ID 0a1b2c3d-0000-4444-8888-0a1b2c3d4e5f.",
      type: "image_generation_user_error",
      param: null,
      code: "moderation_blocked",
    },
  },
  content_filter: {
    status: 400,
    error: {
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. " +
        "Please modify your prompt and retry. To learn more read https://go.microsoft.com/fwlink/?linkid=2198766",
      type: null,
      param: "prompt",
      code: "content_filter",
      status: 400,
      innererror: {
        code: "ResponsibleAIPolicyViolation",
        content_filter_result: { violence: { filtered: true, severity: "high" } },
      },
    },
  },
  "429": {
    status: 429,
    error: {
      code: "429",
      message: "Requests to the resource contoso-images have exceeded the call rate limit of its tier.",
    },
  },
  insufficient_quota: {
    status: 429,
    error: { code: "insufficient_quota", type: "insufficient_quota", message: "Quota exceeded." },
  },
  Forbidden: {
    status: 403,
    error: {
      code: "Forbidden",
      message: "This resource was temporarily blocked because harmful content was detected.",
    },
  },
  "401": {
    status: 401,
    error: { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
  },
  PermissionDenied: {
    status: 403,
    error: { code: "PermissionDenied", message: "The principal lacks the required data action." },
  },
  "404": { status: 404, error: { code: "404", message: "Resource not found" } },
  DeploymentNotFound: {
    status: 404,
    error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
  },
  OperationNotSupported: {
    status: 400,
    error: {
      code: "OperationNotSupported",
      message: "The operation does not work with the specified model. Please choose a different one.",
    },
  },
  BadApiVersion: { status: 400, error: { code: "BadRequest", message: "API version not supported" } },
  InternalServerError: {
    status: 500,
    error: { code: "InternalServerError", message: "The server had an error while processing the request." },
  },
  ServiceUnavailable: { status: 503, error: { code: "ServiceUnavailable", message: "Try again later." } },
  Timeout: { status: 408, error: { code: "Timeout", message: "The operation was timeout." } },
};

/** Returns the error of a behaviour. For `error-status` and `error-in-200`, `text` names a row. */
export function findRefusal(behaviour: Behaviour, apiKey: string): Refusal | undefined {
  const row = REFUSALS[behaviour.text ?? ""];
  switch (behaviour.fault) {
    case "error-status":
      if (behaviour.text === "echo") return invalid(`Wrong header api-key: ${apiKey}. Send another one.`, "");
      return row ?? { status: behaviour.status ?? 500, error: { code: "Whatever", message: "Trouble" } };
    case "error-in-200":
      return row && { ...row, status: 200 };
    default:
      return undefined;
  }
}

/** Returns the header with the time to wait, in seconds, or in milliseconds if `retryAfter` ends with `ms`. */
function retryHeaders({ retryAfter }: Behaviour): Record<string, string> {
  if (retryAfter === undefined) return {};
  return retryAfter.endsWith("ms")
    ? { "retry-after-ms": retryAfter.slice(0, -2) }
    : { "retry-after": retryAfter };
}
