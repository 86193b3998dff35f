import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { readRetryAfter, type Classify, type FailedResponse } from "../transport/http.ts";
import { createSanitizer, type Sanitize } from "../transport/public-message.ts";

/**
 * Reads a failure of OpenAI or of a vendor that imitates it. The typed code decides before the status does, since
 * vendors send an empty balance as 429 and a refusal as 400 (OpenAI error codes guide).
 */
export function createClassifier(apiKey: string, hostname: string): Classify {
  const sanitize = createSanitizer(apiKey, hostname);
  return (response) => classify(response, sanitize, apiKey);
}

/** Whether a parsed success carries an error instead of an answer. */
export function hasError(response: unknown): boolean {
  return Array.isArray(response) ? hasError(response[0]) : isObject(response) && Boolean(response["error"]);
}

interface VendorError {
  message: string;
  type: string;
  code: string;
  param: string;
}

const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  moderation_blocked: "refused",
  content_policy_violation: "refused",
  content_filter: "refused",
  contentfilter: "refused",
  data_inspection_failed: "refused",
  datainspectionfailed: "refused",
  // Zhipu sends its business codes as numeric strings: sensitive content, arrears, bad key, unknown model.
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
  // Azure: the resource is blocked; the deployment serves another operation.
  forbidden: "account",
  operationnotsupported: "account",
  rate_limit_exceeded: "limited",
  "1302": "limited",
  slow_down: "overloaded",
  server_is_overloaded: "overloaded",
};

const KIND_BY_STATUS: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "rejected",
  401: "account",
  402: "account",
  403: "account",
  404: "account",
  408: "overloaded",
  409: "overloaded",
  413: "rejected",
  422: "rejected",
  424: "overloaded",
  425: "overloaded",
  429: "limited",
  498: "overloaded",
};

const MAX_LOGGED = 300;

function classify(response: FailedResponse, sanitize: Sanitize, apiKey: string): UpstreamError {
  const error = readVendorError(response.bodyText);
  const kind = kindOf(response.status, error);
  const said = error.message.replaceAll(apiKey, "[redacted]").slice(0, MAX_LOGGED);
  const isCallers = kind === "rejected" || kind === "refused";
  return new UpstreamError(
    kind,
    `the vendor answered ${response.status} ${error.type}/${error.code}: ${said}`,
    {
      status: response.status,
      retryAfterSeconds: kind === "account" ? undefined : readRetryAfter(response.headers, Date.now()),
      publicMessage: isCallers ? sanitize(error.message) : undefined,
      param: isCallers && /^[\w.[\]-]{1,64}$/.test(error.param) ? error.param : undefined,
    },
  );
}

function kindOf(status: number, error: VendorError): UpstreamErrorKind {
  for (const word of [error.code.toLowerCase(), error.type.toLowerCase()]) {
    if (Object.hasOwn(KIND_BY_CODE, word)) return KIND_BY_CODE[word] ?? "broken";
  }
  // Relays put the status that they met into the code of an error inside 200.
  const effective = status < 300 && /^[45]\d\d$/.test(error.code) ? Number(error.code) : status;
  if (effective < 300) return error.type === "invalid_request_error" ? "rejected" : "overloaded";
  if (effective >= 500) return "overloaded";
  // Any other 4xx says that the address or the method is wrong, which no caller can mend.
  return KIND_BY_STATUS[effective] ?? "broken";
}

/** Understands the nested form, the flat ones, and a list of errors (OpenAI, Mistral, SGLang, xAI, Google). */
function readVendorError(bodyText: string): VendorError {
  const parsed = tryParse(bodyText);
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(body)) return { message: "", type: "", code: "", param: "" };
  const nested = body["error"];
  const error = isObject(nested) ? nested : { message: nested, ...body };
  return {
    message: wordOf(error["message"]),
    type: wordOf(error["type"]),
    code: wordOf(error["code"]),
    param: wordOf(error["param"]),
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
