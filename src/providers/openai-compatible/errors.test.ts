import { expect, test } from "bun:test";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { hasError, readOpenAiFailure } from "./errors.ts";

const errors = createVendorErrors(
  { secret: "sk-secret-key", baseUrl: "https://api.openai.com/v1" },
  readOpenAiFailure,
);
const read = (status: number, body: unknown) =>
  errors.classify({ status, headers: new Headers() }, typeof body === "string" ? body : JSON.stringify(body));

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
  [401, "", "account"],
  [402, "", "account"],
  [403, { error: { message: "m", code: "unsupported_country_region_territory" } }, "account"],
  [404, { error: { message: "m", type: "invalid_request_error", code: "model_not_found" } }, "account"],
  [403, { error: { code: "__proto__", type: "toString", message: 7 } }, "broken"],
  [404, "", "broken"],
] as const)("%d with %o is %s", (status, body, kind) => {
  expect(read(status, body).kind).toBe(kind);
});

test.each([
  [403, { error: { message: "You may not see this file.", type: "invalid_request_error", code: null } }],
  [404, { error: { message: "The file was not found.", type: "invalid_request_error", code: null } }],
  [404, "page not found"],
  [200, { error: { code: 403, message: "m" } }],
] as const)("%d with %o and no code of its own says nothing of the account", (status, body) => {
  expect(read(status, body)).toMatchObject({ kind: "broken", isByRequest: true });
});

test.each([401, 402, 405, 429, 500])("%d without a code is not by the request", (status) => {
  expect(read(status, "").isByRequest).toBe(false);
});

test("the words for the log have no key", () => {
  const error = read(400, { error: { message: `you sent sk-secret-key ${"x".repeat(1000)}` } });
  expect(error.message).not.toContain("you sent");
  expect(error.vendorMessage).toStartWith("you sent [redacted] x");
  expect(error.vendorMessage?.length).toBeLessThan(400);
});

test("a param that is no field name is omitted", () => {
  expect(read(400, { error: { message: "m", param: "messages[3].content" } }).param).toBe(
    "messages[3].content",
  );
  expect(read(400, { error: { message: "m", param: "see https://x" } }).param).toBeUndefined();
});

test("an error inside a success is found in every form", () => {
  expect([{ error: {} }, { error: "x" }, [{ error: { code: 1 } }]].every(hasError)).toBe(true);
  expect([{ error: null, choices: [] }, {}, [], null, "error"].some(hasError)).toBe(false);
});
