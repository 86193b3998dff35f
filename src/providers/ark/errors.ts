import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { wordOf, type FailureReading } from "../transport/vendor-errors.ts";

/**
 * Reads a failure in the vendor's envelope, `{error: {code, message, param, type}}`, with an error's status or
 * inside a success. The code decides before the status does: a used-up quota comes as 429, a refusal as 400 (Ark
 * API reference, error codes).
 */
export function readFailure({ error }: Record<string, unknown>): FailureReading {
  if (!isObject(error)) return { code: "", message: "" };
  const code = wordOf(error["code"]);
  const [head = ""] = code.split(".");
  const kind = KIND_BY_CODE.find(([pattern]) => pattern.test(head))?.[1];
  return { code, message: wordOf(error["message"]), param: wordOf(error["param"]), kind };
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
