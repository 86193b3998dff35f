import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { textOf, type FailureReading } from "../transport/vendor-errors.ts";

/**
 * Reads a failure of OpenAI or a compatible vendor: nested, or flat as Mistral, SGLang and xAI send it. The code
 * takes precedence over the status, since an empty balance comes as 429 and a refusal as 400 (OpenAI error codes).
 */
export function readOpenAiFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const nested = body["error"];
  const error = isObject(nested) ? nested : { message: nested, ...body };
  const code = textOf(error["code"]);
  const type = textOf(error["type"]);
  return {
    code: [type, code].filter(Boolean).join("/"),
    message: textOf(error["message"]),
    param: textOf(error["param"]),
    ...(kindOfCode(code) ?? kindOfCode(type) ?? readSuccess(code, type, httpStatus)),
  };
}

/** Whether a parsed response of success carries an error. */
export function hasError(response: unknown): boolean {
  return Array.isArray(response) ? hasError(response[0]) : isObject(response) && Boolean(response["error"]);
}

const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  moderation_blocked: "refused",
  content_policy_violation: "refused",
  content_filter: "refused",
  contentfilter: "refused",
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
  slow_down: "overloaded",
  server_is_overloaded: "overloaded",
};

function kindOfCode(code: string): Pick<FailureReading, "kind"> | undefined {
  const key = code.toLowerCase();
  return Object.hasOwn(KIND_BY_CODE, key) ? { kind: KIND_BY_CODE[key] } : undefined;
}

/** Of an error inside a response of success, in whose code relays put the status of the vendor behind them. */
function readSuccess(code: string, type: string, httpStatus: number): Partial<FailureReading> {
  if (httpStatus >= 300) return {};
  if (/^[45]\d\d$/.test(code)) return { status: Number(code) };
  return { kind: type === "invalid_request_error" ? "rejected" : "overloaded" };
}
