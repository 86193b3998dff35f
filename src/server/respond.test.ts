import { expect, test } from "bun:test";
import { ERROR_CODES, type ErrorCode } from "../domain/error-codes.table.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { errorResponse } from "./respond.ts";
import type { ErrorFamily } from "./routes.ts";

const FAMILIES: readonly ErrorFamily[] = ["chat", "messages", "responses", "images", "native"];
const CELLS = FAMILIES.flatMap((family) =>
  Object.keys(ERROR_CODES).map((code) => [family, code as ErrorCode] as const),
);
const FINAL: ReadonlySet<number> = new Set([400, 401, 402, 403, 404]);
const TYPES = "type.googleapis.com/google.rpc.";

/*
 * Clients decide by different values if they repeat a request. OpenAI's and Anthropic's clients and Claude Code read
 * `x-should-retry` and `Retry-After`, Google's clients the details, Codex the status of a 4xx.
 */
test.each(CELLS)("on %s the error %s says whether and when to repeat it", async (family, code) => {
  const { status } = ERROR_CODES[code];
  const read = async (error: GatewayError) => {
    const response = errorResponse(error, family, "req_1");
    const { error: body } = (await response.json()) as { error: { details?: { "@type": string }[] } };
    const details = (body.details ?? []).map((each) => each["@type"].replace(TYPES, "")).slice(1);
    const { headers } = response;
    return [response.status, headers.get("x-should-retry"), headers.get("retry-after"), details];
  };
  const isNative = family === "native";
  const spent = isNative && code === "BILLING_BLOCKED" ? ["QuotaFailure"] : [];
  const final = FINAL.has(status) ? "false" : null;
  expect(await read(new GatewayError(code, "Do this."))).toEqual([status, final, null, spent]);
  const later = new GatewayError(code, "Do this.", { retryAfterSeconds: 7 });
  expect(await read(later)).toEqual([status, null, "7", isNative ? ["RetryInfo"] : []]);
  const never = new GatewayError(code, "Do this.", { shouldRetry: false });
  expect(await read(never)).toEqual([status, "false", null, spent]);
});

test.each(["chat", "responses"] as const)(
  "on %s a failure that no retry can change is no `server_error`",
  async (family) => {
    const typeOf = async (error: GatewayError) => {
      const body = (await errorResponse(error, family, "req_1").json()) as { error: { type: string } };
      return body.error.type;
    };
    expect(await typeOf(new GatewayError("upstream_auth_failed", "Wait."))).toBe("server_error");
    const final = new GatewayError("upstream_auth_failed", "Give up.", { shouldRetry: false });
    expect(await typeOf(final)).toBe("permission_error");
  },
);
