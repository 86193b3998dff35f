import { expect, test } from "bun:test";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { hasError, openAiFailures, readOpenAiFailure } from "./errors.ts";

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
  [413, "too large", "too_large"],
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
  [
    400,
    { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***ey." },
    "account",
  ],
  [
    429,
    {
      code: "Some resource has been exhausted",
      error: "Your team t has either used all available credits or reached its monthly spending limit.",
    },
    "account",
  ],
  [
    429,
    { error: { message: "Your account is not active", type: "exceeded_current_quota_error" } },
    "account",
  ],
  [
    400,
    [
      {
        error: {
          code: 400,
          message: "API key not valid.",
          status: "INVALID_ARGUMENT",
          details: [{ reason: "API_KEY_INVALID" }],
        },
      },
    ],
    "account",
  ],
  [
    403,
    { error: { code: 403, message: "m", metadata: { reasons: ["hate"], flagged_input: "x" } } },
    "refused",
  ],
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

test.each([
  [
    { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] },
    "Field required",
    "messages",
  ],
  [{ detail: "Unknown role" }, "Unknown role", undefined],
  [
    {
      object: "error",
      message: {
        detail: [{ type: "extra_forbidden", loc: ["body", "seed"], msg: "Extra inputs are not permitted" }],
      },
    },
    "Extra inputs are not permitted",
    "seed",
  ],
  [
    {
      object: "error",
      message: '{"detail":[{"loc":["body","top_k"],"msg":"Extra inputs are not permitted"}]}',
      code: "1000",
    },
    "Extra inputs are not permitted",
    "top_k",
  ],
  [{ detail: "Ask vendor.example.com with sk-secret-key." }, undefined, undefined],
] as const)("422 with %o tells the reason", (body, publicMessage, param) => {
  const error = read(422, body);
  expect(error).toMatchObject({ kind: "rejected", publicMessage, param });
});

test.each([
  "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
  "Input is longer than the model's context length (8192 tokens).",
  "Invalid request: Your request exceeded model token limit: 262144",
  "Range of input length should be [1, 129024]",
  "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  "the request exceeds the available context size",
])("an input that is too long is known by the sentence %p", (message) => {
  expect(read(400, { error: { message } })).toMatchObject({ kind: "too_long" });
});

test.each([
  ["Please try again in 12s.", 12],
  ["Please try again in 1m12.5s.", 73],
  ["Please try again in 7m.", 420],
  ["Please try again in 340ms.", 1],
  ["Please retry in 46.5s.", 47],
  ["Please try again in a moment.", undefined],
])("429 with %p is to be repeated in %p seconds", (message, seconds) => {
  expect(read(429, { error: { message } }).retryAfterSeconds).toBe(seconds);
});

test("a vendor's own sense of a code counts for it", () => {
  const own = createVendorErrors(
    { secret: "k", baseUrl: "https://vendor.example/v1" },
    openAiFailures(new Map([["insufficient_quota", "limited"]])),
  );
  const body = JSON.stringify({
    error: { code: "insufficient_quota", message: "Allocated quota exceeded." },
  });
  expect(own.classify({ status: 429, headers: new Headers() }, body).kind).toBe("limited");
});
