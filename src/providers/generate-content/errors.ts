import { saysTooLong } from "../../dialects/native/text/index.ts";
import { mayBeTooLong } from "../../dialects/openai-error-codes.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { type FailureReading } from "../transport/vendor-errors.ts";

/**
 * Reads a failure in Google's format, `{error: {code, message, status, details}}`. Typed details take precedence over
 * the status (Google Cloud API design guide, errors).
 */
export function readGoogleFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const error = isObject(body["error"]) ? body["error"] : {};
  const { code, message } = error;
  const details = Array.isArray(error["details"]) ? error["details"].filter(isObject) : [];
  const failure = {
    // An error in the body of a response with a success status contains its own status.
    status: httpStatus < 300 && Number.isInteger(code) ? Number(code) : httpStatus,
    code: textOf(error["status"]).slice(0, 40),
    message: textOf(message),
    details,
  };
  return {
    status: failure.status,
    code: failure.code,
    message: failure.message,
    kind: kindOf(failure),
    param: paramOf(details),
    retryAfterSeconds: retryDelayOf(details, failure.message),
  };
}

/** Reads a failure of a text request. Omits `param`, which `readGoogleFailure` sets to a field of image requests. */
export function readTextFailure(body: Record<string, unknown>, httpStatus: number): FailureReading {
  const { param: _, ...reading } = readGoogleFailure(body, httpStatus);
  const isTooLong = mayBeTooLong(reading.kind) && saysTooLong(reading.message);
  return isTooLong ? { ...reading, kind: "too_long" } : reading;
}

type Details = Record<string, unknown>[];

const MAX_RETRY_SECONDS = 3600;

/** Patterns of the vendor's field names, each with the caller's name of the field. */
const PARAMS: readonly (readonly [RegExp, string])[] = [
  [/aspect_?ratio/i, "aspectRatio"],
  [/image_?size/i, "size"],
  [/inline_?data|mime_?type/i, "image"],
  [/text/i, "prompt"],
];

/** Values of `ErrorInfo.reason` about the key, the project or its billing (google.api.ErrorReason). */
const ACCOUNT_REASON =
  /^(API_KEY_|CONSUMER_|BILLING_|ACCESS_TOKEN_|ACCOUNT_STATE_|SERVICE_DISABLED$|IAM_PERMISSION_DENIED$)/;

/** Matches limits on spending, or per day or month. Their status is 429, but a short wait does not help. */
const USED_UP = /PerDay|PerMonth|spend/i;

/** Returns the kind of a failure; undefined when the status decides. */
function kindOf(failure: {
  status: number;
  code: string;
  message: string;
  details: Details;
}): UpstreamErrorKind | undefined {
  const { status, code, message, details } = failure;
  // The vendor reports an unsupported region or a closed billing account with 400, like a caller's mistake.
  if (code === "FAILED_PRECONDITION") return "account";
  if (details.some(({ reason }) => ACCOUNT_REASON.test(textOf(reason)))) return "account";
  if (status === 429 && isUsedUp(details, message)) return "account";
  return status < 400 ? "overloaded" : undefined;
}

/** Matches a limit of zero. A key without quota for the model gets this error even if nothing was used. */
const NO_QUOTA = /\blimit: 0\b/;

/**
 * True when a short wait does not help: a quota is used up or zero, or the wait is an hour or longer. The cap on
 * monthly spending is only in the message; every other quota has an id in the details.
 */
function isUsedUp(details: Details, message: string): boolean {
  const violations = details.flatMap(({ violations }) => (Array.isArray(violations) ? violations : []));
  const ids = violations.filter(isObject).map(({ quotaId }) => textOf(quotaId));
  const hasNone = violations.some((each) => isObject(each) && textOf(each["quotaValue"]) === "0");
  if (hasNone || NO_QUOTA.test(message) || (retryDelayOf(details, "") ?? 0) >= MAX_RETRY_SECONDS) return true;
  return ids.some((id) => USED_UP.test(id)) || (details.length === 0 && /spending cap/i.test(message));
}

/** Reads the retry delay in whole seconds, from `RetryInfo.retryDelay` (such as `34.4s`) or from the message. */
function retryDelayOf(details: Details, message: string): number | undefined {
  const delays = details.map(({ retryDelay }) => DELAY.exec(textOf(retryDelay)));
  const seconds = (delays.find(Boolean) ?? RETRY_ADVICE.exec(message))?.[1];
  return seconds === undefined ? undefined : Math.min(Math.ceil(Number(seconds)), MAX_RETRY_SECONDS);
}

const DELAY = /^(\d{1,9}(?:\.\d{1,9})?)s$/;
const RETRY_ADVICE = /\bretry in (\d{1,9}(?:\.\d{1,9})?)s\b/i;

function paramOf(details: Details): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) =>
    Array.isArray(fieldViolations) ? fieldViolations.filter(isObject) : [],
  );
  const fields = violations.map(({ field }) => String(field));
  return PARAMS.find(([pattern]) => fields.some((field) => pattern.test(field)))?.[1];
}
