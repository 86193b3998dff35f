import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import type { Behaviour } from "../behaviour.ts";

/** An error response in the vendor's envelope (Gemini API reference, errors). */
export interface Refusal {
  code: number;
  status: string;
  message: string;
  details?: object[];
  headers?: Record<string, string>;
}

export async function refuse(response: SimulatedResponse, { headers, ...error }: Refusal): Promise<void> {
  await sendJson(response, error.code, { error }, {}, headers);
}

export function invalid(message: string, field?: string): Refusal {
  const violation = { field, description: message };
  const details = [{ "@type": `${TYPES}BadRequest`, fieldViolations: [violation] }];
  return { code: 400, status: "INVALID_ARGUMENT", message, ...(field !== undefined && { details }) };
}

export function unknownName(name: string, path: string): Refusal {
  return invalid(
    `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`,
    path,
  );
}

const TYPES = "type.googleapis.com/google.rpc.";

export function unknownModel(model: string): Refusal {
  const message = `models/${model} is not found for API version v1beta, or is not supported for generateContent.`;
  return { code: 404, status: "NOT_FOUND", message };
}

export const WRONG_KEY: Refusal = {
  code: 400,
  status: "INVALID_ARGUMENT",
  message: "API key not valid. Please pass a valid API key.",
  details: [{ "@type": `${TYPES}ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" }],
};

export const NO_KEY: Refusal = {
  code: 403,
  status: "PERMISSION_DENIED",
  message: "Method doesn't allow unregistered callers (callers without established identity).",
};

export const WRONG_TOKEN: Refusal = {
  code: 401,
  status: "UNAUTHENTICATED",
  message: "Request had invalid authentication credentials. Expected OAuth 2 access token.",
  details: [{ "@type": `${TYPES}ErrorInfo`, reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED" }],
};

/** Errors of `error-status` by `text`. Without `text`, only the status is used. */
const BY_WORD: Readonly<Record<string, Refusal>> = {
  FAILED_PRECONDITION: {
    code: 400,
    status: "FAILED_PRECONDITION",
    message: "User location is not supported for the API use.",
  },
  PERMISSION_DENIED: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: "The caller does not have permission.",
  },
  IAM_PERMISSION_DENIED: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: "Permission 'aiplatform.endpoints.predict' denied on resource.",
    details: [{ "@type": `${TYPES}ErrorInfo`, reason: "IAM_PERMISSION_DENIED" }],
  },
  CANCELLED: { code: 499, status: "CANCELLED", message: "The operation was cancelled." },
  INTERNAL: { code: 500, status: "INTERNAL", message: "An internal error has occurred." },
  UNAVAILABLE: {
    code: 503,
    status: "UNAVAILABLE",
    message: "The model is overloaded. Please try again later.",
  },
  DEADLINE_EXCEEDED: { code: 504, status: "DEADLINE_EXCEEDED", message: "Deadline expired." },
  SPENDING_CAP: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "Your project has exceeded its monthly spending cap.",
  },
  NO_QUOTA: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message:
      "You exceeded your current quota.\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0",
  },
  RETRY_ADVICE: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota. Please retry in 46.5s.",
  },
  INPUT_TOO_LONG: {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
  PLAIN_EXHAUSTED: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "Resource exhausted. Please try again later.",
  },
};

/** Returns the error of a behaviour. */
export function findRefusal(behaviour: Behaviour, credential: string): Refusal | undefined {
  const headers = behaviour.retryAfter === undefined ? undefined : { "retry-after": behaviour.retryAfter };
  switch (behaviour.fault) {
    case "error-status": {
      const refusal = BY_WORD[behaviour.text ?? ""];
      if (!refusal && behaviour.text !== undefined) throw new Error(`no error is called ${behaviour.text}`);
      const other = { code: behaviour.status ?? 500, status: "UNKNOWN", message: "Trouble." };
      return { ...(refusal ?? other), headers };
    }
    case "rate-limited":
      return { ...exhausted("GenerateRequestsPerMinutePerProjectPerModel", "34.4s"), headers };
    case "insufficient-quota":
      return exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "12s");
    case "unauthorized":
      return WRONG_KEY;
    case "forbidden":
      return NO_KEY;
    case "unknown-model":
      return unknownModel("some-model");
    case "echo-authorization":
      return invalid(`Bad credential ${credential}. Send another one.`);
    default:
      return undefined;
  }
}

function exhausted(quotaId: string, retryDelay: string): Refusal {
  return {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota. For more information head to: https://ai.google.dev/limits.",
    details: [
      { "@type": `${TYPES}QuotaFailure`, violations: [{ quotaMetric: "generate_requests", quotaId }] },
      { "@type": `${TYPES}RetryInfo`, retryDelay },
    ],
  };
}
