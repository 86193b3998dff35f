import { describe, expect, test } from "bun:test";
import { readRetryAfter } from "./retry-after.ts";

describe("a retry-after", () => {
  const now = Date.parse("2026-11-20T12:00:00Z");
  test.each([
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "12" }, 12],
    [{ "retry-after": "0.4" }, 1],
    [{ "retry-after": "1e9" }, 3600],
    [{ "retry-after": "99999999999999999999" }, 3600],
    [{ "retry-after": "-5" }, 0],
    [{ "retry-after-ms": "1500" }, 2],
    [{ "retry-after-ms": "250", "retry-after": "30" }, 1],
    [{ "retry-after-ms": "?", "retry-after": "30" }, 30],
    [{ "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" }, 30],
    [{ "retry-after": "Friday, 20-Nov-26 12:00:30 GMT" }, 30],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "Fri, 20 Nov 2099 12:00:30 GMT" }, 3600],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "12s" }, undefined],
    [{ "retry-after": "NaN" }, undefined],
    [{ "retry-after": "Infinity" }, undefined],
    [{}, undefined],
  ])("of %o is %p seconds", (headers, seconds) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), now)).toBe(seconds);
  });
});
