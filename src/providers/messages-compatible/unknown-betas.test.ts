import { expect, test } from "bun:test";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { readMessagesFailure } from "./errors.ts";
import { tellingUnknownBetas } from "./unknown-betas.ts";

const errors = createVendorErrors(
  { secret: "sk-secret-key", baseUrl: "https://api.anthropic.com" },
  readMessagesFailure,
);
const headers = {
  "anthropic-beta": "context-management-2025-06-27, prompt-caching-scope-2026-01-05,new-2026-02-02",
};

function classify(message: string, sent: Record<string, string> = headers) {
  const text = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
  const response = new Response(null, { status: 400 });
  return tellingUnknownBetas(errors.classify, { headers: sent })(response, text);
}

// The message of Vertex AI (anthropics/claude-code, 21767).
const WORDS =
  "Unexpected value(s) `prompt-caching-scope-2026-01-05`, `new-2026-02-02` for the `anthropic-beta` header. Please consult our documentation at docs.anthropic.com or try again without the header.";

test("values that an account does not know are named to the caller, and another target may know them", () => {
  expect(classify(WORDS)).toMatchObject({
    kind: "rejected",
    status: 400,
    param: "anthropic-beta",
    isUnsent: true,
    isByRequest: true,
    publicMessage: expect.stringMatching(/^Leave `prompt-caching-scope-2026-01-05`, `new-2026-02-02` out of/),
  });
});

test("values that the caller did not send are not repeated", () => {
  const { publicMessage, isUnsent } = classify(WORDS, { "anthropic-beta": "other" });
  expect([publicMessage, isUnsent]).toEqual([undefined, false]);
});

test("every other refusal stays as it is", () => {
  expect(classify("max_tokens: Field required")).toMatchObject({
    publicMessage: "max_tokens: Field required",
    isUnsent: false,
  });
});
