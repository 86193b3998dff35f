import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/* A request with more tokens than a minute allows gets an error that says how to shorten the request. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: "limits: { default: { tokens_per_minute: 20 } }",
    env: { GATEWAY_DEFAULT_LIMITS: "" },
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const model = "sandbox-chat";
const messages = [{ role: "user", content: "Hello?" }];
const LONG = "word ".repeat(100);

test.each([
  ["/v1/chat/completions", { model, messages, max_tokens: 500 }, "max_tokens"],
  ["/v1/chat/completions", { model, messages, max_completion_tokens: 500 }, "max_completion_tokens"],
  ["/v1/responses", { model, input: "Hello?", max_output_tokens: 500 }, "max_output_tokens"],
  ["/v1/embeddings", { model: "sandbox-embedding", input: LONG }, "input"],
])("%s names a field of its own protocol", async (path, body, param) => {
  const response = await gateway.call(path, { body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_parameter", param } });
});
