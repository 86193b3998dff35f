import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { readRetryAfter, type FailedResponse } from "../transport/http.ts";
import { createSanitizer } from "../transport/public-message.ts";

/**
 * Reads a failure in the vendor's envelope, `{error: {code, message, status, details}}` or a list of it: the typed
 * details decide before the status does (Google Cloud API design guide, errors).
 */
export function classifyFailure(response: FailedResponse, redaction: Redaction): UpstreamError {
  const error = readVendorError(response);
  const kind = kindOf(error);
  const said = redact(error.message, redaction).slice(0, MAX_LOGGED);
  const isCallers = kind === "rejected";
  return new UpstreamError(kind, `the vendor answered ${error.code} ${error.status}: ${said}`, {
    status: error.code,
    retryAfterSeconds:
      kind === "account" ? undefined : (retryDelayOf(error) ?? readRetryAfter(response.headers, Date.now())),
    publicMessage: isCallers ? sanitize(error.message, redaction) : undefined,
    param: isCallers ? paramOf(error) : undefined,
  });
}

/** A refusal of the content that came with a success status. `message` is the vendor's sentence, if any. */
export function contentRefused(what: string, message: unknown, redaction: Redaction): UpstreamError {
  return new UpstreamError("refused", `the vendor ${redact(what, redaction).slice(0, MAX_LOGGED)}`, {
    status: 200,
    publicMessage: typeof message === "string" ? sanitize(message, redaction) : undefined,
  });
}

/** What must not be heard in a message. */
export interface Redaction {
  secret: string;
  hostname: string;
}

interface VendorError {
  code: number;
  status: string;
  message: string;
  details: Record<string, unknown>[];
}

const MAX_LOGGED = 300;
const MAX_RETRY_SECONDS = 3600;

const KIND_BY_CODE: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "rejected",
  401: "account",
  402: "account",
  403: "account",
  404: "account",
  408: "overloaded",
  409: "overloaded",
  413: "rejected",
  429: "limited",
  499: "overloaded",
};

/** The vendor's field names, by what callers know them as. */
const PARAMS: readonly (readonly [RegExp, string])[] = [
  [/aspect_?ratio/i, "aspectRatio"],
  [/image_?size/i, "size"],
  [/inline_?data|mime_?type/i, "image"],
  [/text/i, "prompt"],
];

/** A limit on what was spent or on a whole day's calls comes as 429, but waiting a little does not help. */
const USED_UP = /PerDay|PerMonth|spend/i;

function kindOf({ code, status, message, details }: VendorError): UpstreamErrorKind {
  // A bad key and a closed region or billing account come as 400, like a caller's mistake.
  if (status === "FAILED_PRECONDITION") return "account";
  const reasons = details.map((detail) => String(detail["reason"] ?? ""));
  if (reasons.some((reason) => /^API_KEY_|^CONSUMER_|^BILLING_|^SERVICE_DISABLED$/.test(reason)))
    return "account";
  if (code === 429 && isUsedUp(details, message)) return "account";
  if (code >= 500 || code < 400) return "overloaded";
  return KIND_BY_CODE[code] ?? "broken";
}

/** The cap on monthly spending is told in words only; every other quota has an id. */
function isUsedUp(details: VendorError["details"], message: string): boolean {
  const violations = details.flatMap(({ violations }) => (Array.isArray(violations) ? violations : []));
  const ids = violations.filter(isObject).map(({ quotaId }) => String(quotaId ?? ""));
  return ids.some((id) => USED_UP.test(id)) || (details.length === 0 && /spending cap/i.test(message));
}

/** Whole seconds of `RetryInfo.retryDelay`, which reads `34.4s`. */
function retryDelayOf({ details }: VendorError): number | undefined {
  for (const { retryDelay } of details) {
    const seconds =
      typeof retryDelay === "string" ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay)?.[1] : undefined;
    if (seconds !== undefined) return Math.min(Math.ceil(Number(seconds)), MAX_RETRY_SECONDS);
  }
  return undefined;
}

function paramOf({ details }: VendorError): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) =>
    Array.isArray(fieldViolations) ? fieldViolations.filter(isObject) : [],
  );
  const fields = violations.map(({ field }) => String(field));
  return PARAMS.find(([pattern]) => fields.some((field) => pattern.test(field)))?.[1];
}

function redact(text: string, { secret }: Redaction): string {
  return text.replaceAll(secret, "[redacted]");
}

function sanitize(message: string, { secret, hostname }: Redaction): string | undefined {
  return createSanitizer(secret, hostname)(message);
}

/** An error inside a success counts by the code that it carries. */
function readVendorError({ status, bodyText }: FailedResponse): VendorError {
  const parsed = tryParse(bodyText);
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const { code, message, details } = error;
  const isInside = status < 300 && Number.isInteger(code);
  return {
    code: isInside ? Number(code) : status,
    status: typeof error["status"] === "string" ? error["status"].slice(0, 40) : "",
    message: typeof message === "string" ? message : "",
    details: Array.isArray(details) ? details.filter(isObject) : [],
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
