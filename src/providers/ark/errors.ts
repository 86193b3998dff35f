import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { readRetryAfter, type Classify, type FailedAnswer } from "../http.ts";
import { createNeutralizer, type Neutralize } from "../openai/public-message.ts";

/**
 * Reads a failure in the vendor's envelope, `{error: {code, message, param, type}}`, with an error's status or
 * inside a success. The code decides before the status does: a used-up quota comes as 429, a refusal as 400 (Ark
 * API reference, error codes).
 */
export function createClassifier(apiKey: string, hostname: string): Classify {
  const neutralize = createNeutralizer(apiKey, hostname);
  return (answer) => classify(answer, neutralize, apiKey);
}

/** Kinds by the part of a code before its first dot; what follows the dot only says more. */
const KIND_BY_CODE: readonly (readonly [RegExp, UpstreamErrorKind])[] = [
  [/SensitiveContentDetected$/, "refused"],
  [/^(QuotaExceeded|SetLimitExceeded)$/, "account"],
  [/^(AuthenticationError|AccountOverdueError|AccessDenied|OperationDenied)$/, "account"],
  [/^(ModelNotOpen|InvalidEndpointOrModel)$/, "account"],
  [/RateLimitExceeded$|^RequestBurstTooFast$/, "limited"],
  [/^(ServerOverloaded|InflightBatchsizeExceeded|InternalServiceError)$/, "overloaded"],
  [/^(InvalidParameter|MissingParameter|InvalidImageURL)$/, "rejected"],
];

const KIND_BY_STATUS: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "rejected",
  401: "account",
  402: "account",
  403: "account",
  404: "account",
  408: "overloaded",
  413: "rejected",
  422: "rejected",
  429: "limited",
};

const LONGEST_LOGGED = 300;
const PARAM = /^[\w.[\]-]{1,64}$/;

function classify(answer: FailedAnswer, neutralize: Neutralize, apiKey: string): UpstreamError {
  const { code, message, param } = readVendorError(answer.bodyText);
  const kind = kindOf(answer.status, code);
  const said = `${code}: ${message}`.replaceAll(apiKey, "[redacted]").slice(0, LONGEST_LOGGED);
  const isCallers = kind === "rejected" || kind === "refused";
  return new UpstreamError(kind, `the vendor answered ${answer.status} ${said}`, {
    status: answer.status,
    retryAfterSeconds: kind === "account" ? undefined : readRetryAfter(answer.headers, Date.now()),
    publicMessage: isCallers ? neutralize(message) : undefined,
    param: kind === "rejected" && PARAM.test(param) ? param : undefined,
  });
}

/** An unknown error inside a success is no caller's doing: another channel may do better. */
function kindOf(status: number, code: string): UpstreamErrorKind {
  const [head = ""] = code.split(".");
  const known = KIND_BY_CODE.find(([pattern]) => pattern.test(head))?.[1];
  if (known) return known;
  return status >= 500 ? "overloaded" : (KIND_BY_STATUS[status] ?? "broken");
}

function readVendorError(bodyText: string): { code: string; message: string; param: string } {
  const body = tryParse(bodyText);
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  return { code: wordOf(error["code"]), message: wordOf(error["message"]), param: wordOf(error["param"]) };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
