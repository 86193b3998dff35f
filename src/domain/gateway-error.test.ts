import { expect, test } from "bun:test";
import { ERROR_CODES, type ErrorCode } from "./error-codes.table.ts";
import { GatewayError } from "./gateway-error.ts";

const FINAL = [400, 401, 402, 403, 404];

test.each(Object.entries(ERROR_CODES))(
  "%s says whether a retry is useless by its status alone",
  (name, { status, retry }) => {
    const code = name as ErrorCode;
    if (FINAL.includes(status)) expect(retry).toBe("no");
    expect(new GatewayError(code, "").shouldRetry).toBe(FINAL.includes(status) ? false : undefined);
    expect(new GatewayError(code, "", { retryAfterSeconds: 1 }).shouldRetry).toBeUndefined();
    expect(new GatewayError(code, "", { shouldRetry: false }).shouldRetry).toBe(false);
  },
);
