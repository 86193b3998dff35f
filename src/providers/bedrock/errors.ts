import type { ResponseHeaders } from "../transport/http.ts";
import { textOf } from "../../lib/json.ts";
import { mayBeTooLong } from "../../dialects/openai-error-codes.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { type FailureReading } from "../transport/vendor-errors.ts";

/** Reads a failure of Bedrock: its type from a header, its message from the body (API reference, InvokeModel). */
export function readBedrockFailure(
  { message, Message: capitalized }: Record<string, unknown>,
  _status: number,
  headers: ResponseHeaders,
): FailureReading {
  // Some headers contain a colon and the address of the documentation after the type.
  const [type = ""] = (headers.get("x-amzn-errortype") ?? "").split(":", 1);
  return readException(type, textOf(message ?? capitalized));
}

/** Reads an exception by its type and message. Inside a stream, the type begins with a lower-case letter. */
export function readException(type: string, message: string): FailureReading {
  const bySentence = KIND_BY_SENTENCE.find(([words]) => words.test(message))?.[1];
  const name = type.toLowerCase().replace(/(?:exception|error)$/, "");
  const found = bySentence ?? KIND_BY_TYPE.get(name);
  const kind = mayBeTooLong(found) && TOO_LONG.test(message) ? "too_long" : found;
  return { code: type, message, ...(kind && { kind }) };
}

/** Error kinds by the type of an exception, in lower case and without the ending. */
const KIND_BY_TYPE: ReadonlyMap<string, UpstreamErrorKind> = new Map<string, UpstreamErrorKind>([
  ["validation", "rejected"],
  ["throttling", "limited"],
  ["toomanyrequests", "limited"],
  ["servicequotaexceeded", "account"],
  ["accessdenied", "account"],
  ["resourcenotfound", "account"],
  ["expiredtoken", "account"],
  ["unrecognizedclient", "account"],
  ["invalidsignature", "account"],
  ["incompletesignature", "account"],
  ["invalidclienttokenid", "account"],
  ["missingauthenticationtoken", "account"],
  ["signaturedoesnotmatch", "account"],
  ["modelnotready", "overloaded"],
  ["modeltimeout", "overloaded"],
  ["modelstream", "overloaded"],
  ["model", "overloaded"],
  ["internalserver", "overloaded"],
  ["internalfailure", "overloaded"],
  ["serviceunavailable", "overloaded"],
]);

/** Error kinds by the vendor's words, for errors whose type says only that the request is invalid or throttled. */
const KIND_BY_SENTENCE: readonly (readonly [sentence: RegExp, kind: UpstreamErrorKind])[] = [
  [/model identifier is invalid|on-demand throughput|operation not allowed/i, "account"],
  [/per day/i, "account"],
  [/blocked by content filtering/i, "refused"],
];
const TOO_LONG = /(?:prompt|input) is too long|exceeds? (?:the )?(?:model's )?context (?:limit|window)/i;
