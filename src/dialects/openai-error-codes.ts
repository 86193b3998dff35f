import type { GatewayError } from "../domain/gateway-error.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { ownValue } from "../lib/json.ts";

/** The values of `type` that OpenAI's clients know. */
export const ERROR_TYPES = {
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
 * The kind that a code or type of OpenAI or a compatible vendor stands for, as the error of a response or inside a
 * stream; undefined where the code is unknown or too general (OpenAI error codes guide).
 */
export function kindOfCode(code: string): UpstreamErrorKind | undefined {
  const key = code.toLowerCase();
  return ownValue(KIND_BY_CODE, key);
}

/** The kind that a vendor's sentence stands for where it has no code; undefined for any other. */
export function kindOfSentence(message: string): UpstreamErrorKind | undefined {
  return KIND_BY_SENTENCE.find(([pattern]) => pattern.test(message))?.[1];
}

/** True when only the vendor's sentence can show that an input is too long, because its code is absent or general. */
export function mayBeTooLong(kind: UpstreamErrorKind | undefined): boolean {
  return kind === undefined || kind === "rejected" || kind === "too_large";
}

/** Returns true for a sentence which says that the input is longer than the model's context. */
export function saysContextExceeded(message: string): boolean {
  return CONTEXT_SENTENCES.some((pattern) => pattern.test(message));
}

/**
 * Seconds until a retry by a sentence such as "Please try again in 1m12.5s" (OpenAI, Groq) or "Please retry in
 * 46.5s" (Google); undefined without one.
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
  // xAI sends both without a code, the one as 400 and the other as 429 (continuedev/continue issue 10373).
  [/^Incorrect API key provided/, "account"],
  [/\bused all available credits\b|\bdoesn't have any credits\b/, "account"],
  [/\bcredit balance is too low\b/i, "account"],
];

/** OpenAI, vLLM, DeepSeek, OpenRouter and xAI; SGLang; Moonshot; Alibaba; Mistral; llama.cpp. */
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
  // OpenAI responses reference, `ResponseError`: policies under which a prompt or a reply is refused.
  bio_policy: "refused",
  misalignment_policy_violation: "refused",
  data_inspection_failed: "refused",
  datainspectionfailed: "refused",
  // Zhipu's codes are numeric strings: sensitive content, arrears, unknown model. Its failures of keys have the status
  // 401.
  "1301": "refused",
  "1113": "account",
  "1211": "account",
  insufficient_quota: "account",
  credit_balance_exhausted: "account",
  organization_spend_limit_exceeded: "account",
  project_spend_limit_exceeded: "account",
  organization_usage_limit_exceeded: "account",
  billing_hard_limit_reached: "account",
  billing_not_active: "account",
  account_deactivated: "account",
  arrearage: "account",
  // Moonshot API, "Error reference".
  exceeded_current_quota_error: "account",
  invalid_authentication_error: "account",
  incorrect_api_key_error: "account",
  permission_denied_error: "account",
  rate_limit_reached_error: "limited",
  engine_overloaded_error: "overloaded",
  // Google's reasons (google.rpc.ErrorInfo).
  api_key_invalid: "account",
  api_key_expired: "account",
  // Alibaba Model Studio, "Error codes".
  invalidapikey: "account",
  "throttling.allocationquota": "limited",
  "throttling.ratequota": "limited",
  // Groq API, "Error codes".
  model_decommissioned: "account",
  invalid_api_key: "account",
  authentication_error: "account",
  permission_error: "account",
  model_not_found: "account",
  request_forbidden: "account",
  unsupported_country_region_territory: "account",
  // Azure: the resource is blocked, the identity lacks a role, the deployment is missing or serves another operation.
  forbidden: "account",
  permissiondenied: "account",
  deploymentnotfound: "account",
  operationnotsupported: "account",
  rate_limit_exceeded: "limited",
  "1302": "limited",
  usage_limit_reached: "limited",
  slow_down: "overloaded",
  server_is_overloaded: "overloaded",
};
