import { expect, test } from "bun:test";
import { createClassifier, hasError } from "./errors.ts";

const classify = createClassifier("sk-secret-key", "api.openai.com");
const read = (status: number, body: unknown) =>
  classify({
    status,
    headers: new Headers(),
    bodyText: typeof body === "string" ? body : JSON.stringify(body),
  });

test.each([
  [400, { error: { message: "m", type: "invalid_request_error", code: "content_filter" } }, "refused"],
  [400, { created: 1, error: { code: "contentFilter", message: "m" } }, "refused"],
  [400, { error: { message: "m", code: "content_policy_violation" } }, "refused"],
  [400, { error: { message: "m", type: "invalid_request_error", code: null } }, "rejected"],
  [413, "too large", "rejected"],
  [422, { code: "invalid-argument", error: "flat" }, "rejected"],
  [405, "", "broken"],
  [408, "", "overloaded"],
  [409, "", "overloaded"],
  [429, { object: "error", message: "m", type: "insufficient_quota", code: null }, "account"],
  [429, { error: { code: "1113", message: "m" } }, "account"],
  [429, [{ error: { code: 429, message: "m" } }], "limited"],
  [429, { error: { type: "tokens", code: "project_spend_limit_exceeded" } }, "account"],
  [498, "", "overloaded"],
  [599, "<html>", "overloaded"],
  [200, { error: { code: 429, message: "m" } }, "limited"],
  [200, { error: { code: 401, message: "m" } }, "account"],
  [200, { error: { type: "invalid_request_error", message: "m" } }, "rejected"],
  [200, { error: "boom" }, "overloaded"],
  [403, { error: { code: "__proto__", type: "toString", message: 7 } }, "account"],
] as const)("%d with %o is %s", (status, body, kind) => {
  expect(read(status, body).kind).toBe(kind);
});

test("what goes to the log never holds the key", () => {
  const error = read(400, { error: { message: `you sent sk-secret-key ${"x".repeat(1000)}` } });
  expect(error.message).toContain("[redacted]");
  expect(error.message.length).toBeLessThan(400);
});

test("a param that is no field name is left out", () => {
  expect(read(400, { error: { message: "m", param: "messages[3].content" } }).param).toBe(
    "messages[3].content",
  );
  expect(read(400, { error: { message: "m", param: "see https://x" } }).param).toBeUndefined();
});

test("an error is seen in a success of every form, and only there", () => {
  expect([{ error: {} }, { error: "x" }, [{ error: { code: 1 } }]].every(hasError)).toBe(true);
  expect([{ error: null, choices: [] }, {}, [], null, "error"].some(hasError)).toBe(false);
});
