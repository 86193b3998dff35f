import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";

/** What the types of the protocol's errors mean (Anthropic API, "Errors"). */
const KIND_BY_TYPE: Readonly<Record<string, UpstreamErrorKind>> = {
  invalid_request_error: "rejected",
  request_too_large: "rejected",
  authentication_error: "account",
  permission_error: "account",
  billing_error: "account",
  not_found_error: "account",
  rate_limit_error: "limited",
  timeout_error: "overloaded",
  api_error: "overloaded",
  overloaded_error: "overloaded",
};

/** The kind of a failure by its type; undefined for an unknown one. */
export function kindOfType(type: unknown): UpstreamErrorKind | undefined {
  return typeof type === "string" ? ownValue(KIND_BY_TYPE, type) : undefined;
}

/** The failure that a vendor reports in a response of success, or inside of a running stream. */
export function reportedFailure(error: unknown): UpstreamError {
  const { type = "", message = error } = isObject(error) ? error : {};
  const named = String(type)
    .replace(/[^\w./ -]/g, "?")
    .slice(0, 100);
  const vendorMessage = String(message).slice(0, 300);
  return new UpstreamError(kindOfType(type) ?? "overloaded", `error inside the response: ${named}`, {
    vendorMessage,
  });
}
