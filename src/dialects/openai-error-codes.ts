import type { GatewayError } from "../domain/gateway-error.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { ownValue } from "../lib/json.ts";

/** The error types that OpenAI's clients know, by the gateway's kind of error. */
const ERROR_TYPES = {
  parameter: "invalid_request_error",
  access: "authentication_error",
  authentication: "authentication_error",
  billing: "insufficient_quota",
  permission: "permission_error",
  not_found: "invalid_request_error",
  limit: "rate_limit_exceeded",
  server: "server_error",
  overload: "server_error",
} as const satisfies Record<GatewayError["kind"], string>;

/**
 * Returns the `type` of an error. A server error that must not be retried gets `permission_error`, because the AI SDK
 * and opencode repeat streams that fail with `server_error`.
 */
export function errorType({ kind, shouldRetry }: GatewayError): string {
  return kind === "server" && shouldRetry === false ? ERROR_TYPES.permission : ERROR_TYPES[kind];
}

/**
 * Returns the kind of failure for a code or type of OpenAI or a compatible vendor, from an error response or a stream.
 * Undefined when the code is unknown or too general (OpenAI error codes guide).
 */
export function kindOfCode(code: string): UpstreamErrorKind | undefined {
  const key = code.toLowerCase();
  return ownValue(KIND_BY_CODE, key);
}

/** Returns the kind of failure for a vendor's message without a code. Undefined for an unknown message. */
export function kindOfSentence(message: string): UpstreamErrorKind | undefined {
  return KIND_BY_SENTENCE.find(([pattern]) => pattern.test(message))?.[1];
}

/** True when the code is absent or too general. Then only the vendor's message can say that an input is too long. */
export function mayBeTooLong(kind: UpstreamErrorKind | undefined): boolean {
  return kind === undefined || kind === "rejected" || kind === "too_large";
}

/** True for a message that says that the input exceeds the model's context. */
export function saysContextExceeded(message: string): boolean {
  return CONTEXT_SENTENCES.some((pattern) => pattern.test(message));
}

/**
 * Returns the seconds until a retry, from a message such as "Please try again in 1m12.5s" (OpenAI, Groq) or "Please
 * retry in 46.5s" (Google). Undefined for other messages.
 */
export function retrySecondsOf(message: string): number | undefined {
  const [, hours, minutes, seconds, unit] = RETRY.exec(message) ?? [];
  if (hours === undefined && minutes === undefined && seconds === undefined) return undefined;
  const last = Number(seconds ?? 0) / (unit === "ms" ? 1000 : 1);
  return Math.ceil(3600 * Number(hours ?? 0) + 60 * Number(minutes ?? 0) + last);
}

const RETRY =
  /\b(?:try again|retry) (?:in|after) (?:(\d{1,4})h)?(?:(\d{1,4})m(?!s))?(?:(\d{1,7}(?:\.\d{1,9})?) ?(ms|s))?/i;

const KIND_BY_SENTENCE: readonly (readonly [RegExp, UpstreamErrorKind])[] = [
  // xAI sends this row's and the next row's messages without a code, with 400 and 429 (continuedev/continue issue
  // 10373).
  [/^Incorrect API key provided/, "account"],
  [/\bused all available credits\b|\bdoesn't have any credits\b/, "account"],
  [/\bcredit balance is too low\b/i, "account"],
];

/** Messages of OpenAI, vLLM, DeepSeek, OpenRouter and xAI; SGLang; Moonshot; Alibaba; Mistral; llama.cpp. */
const CONTEXT_SENTENCES: readonly RegExp[] = [
  /\bmaximum (?:context|prompt) length\b/i,
  /\blonger than the model's context length\b/i,
  /\bexceeded model token limit\b|\bInput token length too long\b/i,
  /\bRange of input length should be\b/,
  /\btoo large for model with \d+ maximum context\b/,
  /\bexceeds? the available context size\b/i,
];

const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  context_length_exceeded: "too_long",
  invalid_prompt: "rejected",
  moderation_blocked: "refused",
  content_policy_violation: "refused",
  content_filter: "refused",
  contentfilter: "refused",
  // Policies that refuse a prompt or a reply (OpenAI responses reference, `ResponseError`).
  bio_policy: "refused",
  misalignment_policy_violation: "refused",
  // The codes of Alibaba Cloud's Model Studio.
  data_inspection_failed: "refused",
  datainspectionfailed: "refused",
  // Zhipu's codes for sensitive content, missing payments and unknown models. Zhipu reports a wrong key by status 401.
  "1301": "refused",
  "1113": "account",
  "1211": "account",
  // Codes for exhausted credits, spend limits and inactive accounts.
  insufficient_quota: "account",
  credit_balance_exhausted: "account",
  organization_spend_limit_exceeded: "account",
  project_spend_limit_exceeded: "account",
  organization_usage_limit_exceeded: "account",
  billing_hard_limit_reached: "account",
  billing_not_active: "account",
  account_deactivated: "account",
  arrearage: "account",
  // Codes of Moonshot (Moonshot API, "Error reference").
  exceeded_current_quota_error: "account",
  invalid_authentication_error: "account",
  incorrect_api_key_error: "account",
  permission_denied_error: "account",
  rate_limit_reached_error: "limited",
  engine_overloaded_error: "overloaded",
  // Reasons of Google (google.rpc.ErrorInfo).
  api_key_invalid: "account",
  api_key_expired: "account",
  // Codes of Alibaba (Alibaba Model Studio, "Error codes").
  invalidapikey: "account",
  "throttling.allocationquota": "limited",
  "throttling.ratequota": "limited",
  // A code of Groq (Groq API, "Error codes").
  model_decommissioned: "account",
  // Codes for a refused key, model, request or country.
  invalid_api_key: "account",
  authentication_error: "account",
  permission_error: "account",
  model_not_found: "account",
  request_forbidden: "account",
  unsupported_country_region_territory: "account",
  // Codes of Azure for a blocked resource, a missing role, or a deployment that is missing or of another operation.
  forbidden: "account",
  permissiondenied: "account",
  deploymentnotfound: "account",
  operationnotsupported: "account",
  // Codes for too many requests and too much load; `1302` is Zhipu's.
  rate_limit_exceeded: "limited",
  "1302": "limited",
  usage_limit_reached: "limited",
  slow_down: "overloaded",
  server_is_overloaded: "overloaded",
};
