import { expect, test } from "bun:test";
import { type ErrorCode } from "../../domain/error-codes.table.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { writeError } from "./error.ts";

test.each<[ErrorCode, number, string]>([
  ["invalid_image", 400, "INVALID_ARGUMENT"],
  ["missing_api_key", 401, "UNAUTHENTICATED"],
  ["MODEL_PRICE_NOT_CONFIGURED", 402, "FAILED_PRECONDITION"],
  ["ip_not_allowed", 403, "PERMISSION_DENIED"],
  ["not_found", 404, "NOT_FOUND"],
  ["payload_too_large", 413, "INVALID_ARGUMENT"],
  ["BILLING_BLOCKED", 429, "RESOURCE_EXHAUSTED"],
  ["internal_error", 500, "INTERNAL"],
  ["upstream_auth_failed", 502, "UNAVAILABLE"],
  ["overloaded", 503, "UNAVAILABLE"],
  ["upstream_timeout", 504, "DEADLINE_EXCEEDED"],
])("%s is written as %d %s", (code, status, name) => {
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo" as const,
    reason: code,
    domain: "model-inference-gateway",
  };
  const error = { code: status, message: "Do this.", status: name };
  const written = writeError(new GatewayError(code, "Do this.", { retryAfterSeconds: 7 }));
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo" as const, retryDelay: "7s" };
  expect(written).toEqual({ error: { ...error, details: [info, retry] } });
  if (code !== "BILLING_BLOCKED")
    expect(writeError(new GatewayError(code, "Do this."))).toEqual({ error: { ...error, details: [info] } });
});

test("a spent budget is a quota that no retry brings back", () => {
  const { details } = writeError(new GatewayError("BILLING_BLOCKED", "The budget is spent.")).error;
  expect(details.slice(1)).toEqual([
    {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [{ description: "The budget is spent.", quotaId: "SpendPerDayOrMonthPerBudget" }],
    },
  ]);
});
