import type { UpstreamErrorKind } from "../domain/upstream-error.ts";

/** The code of an input that is longer than the model's context (OpenAI error codes). */
export const CONTEXT_EXCEEDED = "context_length_exceeded";

/**
 * The kind that a code or type of OpenAI or a compatible vendor stands for, as the error of a response or inside a
 * stream; undefined where it leaves that open (OpenAI error codes guide).
 */
export function kindOfCode(code: string): UpstreamErrorKind | undefined {
  const key = code.toLowerCase();
  return Object.hasOwn(KIND_BY_CODE, key) ? KIND_BY_CODE[key] : undefined;
}

const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  [CONTEXT_EXCEEDED]: "rejected",
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
  // Zhipu's codes are numeric strings: sensitive content, arrears, invalid key, unknown model.
  "1301": "refused",
  "1113": "account",
  "1000": "account",
  "1001": "account",
  "1002": "account",
  "1003": "account",
  "1004": "account",
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
