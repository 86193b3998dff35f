import { expect, test } from "bun:test";
import { createSanitizer } from "./public-message.ts";

const sanitize = createSanitizer(["sk-secret-key"], "api.example-vendor.com");

test.each([
  "Invalid 'temperature': expected a value from 0 to 2.",
  "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
  "Unknown parameter: 'foo'.",
  "[] is too short - 'messages'",
])("a message about the request is kept: %s", (message) => {
  expect(sanitize(message)).toBe(message);
});

test.each([
  "Your key sk-secret-key is wrong",
  "Incorrect key provided: sk-abcd***wxyz",
  "Authorization: Bearer abc was sent",
  "See https://example.org/help",
  "Visit help.openai.com",
  "OpenAI does not support this",
  "Example-Vendor does not support this",
  "Failed on host 10.1.2.3",
  "Worker gpu-3.models.svc is busy",
  "Nothing listens on localhost port 8000",
  "Upstream vllm.corp refused",
  "Request ID req_abc123 failed",
  "Request id: 0217abcdef0123456789abcdef01234",
  "Project proj_1234567 has no access",
  "Contact help@vendor.example",
  "",
  "   ",
])("a message with a vendor, key, address or id is dropped: %s", (message) => {
  expect(sanitize(message)).toBeUndefined();
});

test("only the revealing sentences of a message are dropped", () => {
  expect(sanitize("Image 2 is no image. See https://x.test for help. Send another.")).toBe(
    "Image 2 is no image. Send another.",
  );
});

test("control characters are replaced and long messages cut", () => {
  expect(sanitize("one\r\ntwo\u0000three")).toBe("one two three");
  expect(sanitize("word ".repeat(10_000))!.length).toBeLessThanOrEqual(500);
});
