import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { SIMULATED_API_KEY, startBedrock } from "./bedrock.ts";
import { SIMULATED_PROJECT } from "./gemini.ts";
import { startVertexClaude } from "./vertex-claude.ts";

const bedrock = await startBedrock();
const vertex = await startVertexClaude({ accepts: (token) => token === "good" });
afterEach(() => [bedrock, vertex].forEach((each) => each.reset()));
afterAll(() => Promise.all([bedrock.close(), vertex.close()]));

const JSON_TYPE = { "content-type": "application/json" };
const KEY = { ...JSON_TYPE, authorization: `Bearer ${SIMULATED_API_KEY}` };
const TOKEN = { ...JSON_TYPE, authorization: "Bearer good" };
const ID = "global.anthropic.claude-opus-5";
const message = { max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
const link = {
  role: "user",
  content: [{ type: "image", source: { type: "url", url: "https://pictures.example/a.png" } }],
};

const toBedrock = (body: object, headers: Record<string, string> = KEY, path = `/model/${ID}/invoke`) =>
  fetch(bedrock.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify({ anthropic_version: "bedrock-2023-05-31", ...message, ...body }),
  });
const MODELS = `/v1/projects/${SIMULATED_PROJECT}/locations/global/publishers/anthropic/models`;
const toVertex = (body: object, headers: Record<string, string> = TOKEN, path = "claude-opus-5:rawPredict") =>
  fetch(`${vertex.url}${MODELS}/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ anthropic_version: "vertex-2023-10-16", ...message, ...body }),
  });

test("both clouds take a plain request", async () => {
  expect((await toBedrock({ anthropic_beta: ["one-2025-01-01"] })).status).toBe(200);
  expect((await toVertex({ stream: false })).status).toBe(200);
  expect([bedrock.totals.usages.length, vertex.totals.usages.length]).toEqual([1, 1]);
});

describe("the simulated Bedrock refuses", () => {
  const SIGNED =
    "AWS4-HMAC-SHA256 Credential=AKIASIMULATED0123456/20260101/eu-central-1/bedrock/aws4_request";
  test.each<[string, object, Record<string, string>?, string?]>([
    ["the model in the body", { model: ID }],
    ["the stream in the body", { stream: true }],
    ["the version of the vendor itself", { anthropic_version: "2023-06-01" }],
    ["betas as text", { anthropic_beta: "one-2025-01-01" }],
    ["a link", { messages: [link] }],
    ["an unknown field", { seed: 1 }],
    ["an unknown model", {}, KEY, "/model/claude-opus-5/invoke"],
    ["a wrong key", {}, { ...JSON_TYPE, authorization: "Bearer wrong" }],
    ["no credential", {}, JSON_TYPE],
    [
      "a made-up signature",
      {},
      { ...JSON_TYPE, authorization: `${SIGNED}, SignedHeaders=host, Signature=${"0".repeat(64)}` },
    ],
  ])("%s", async (_, body, headers = KEY, path = `/model/${ID}/invoke`) => {
    const response = await toBedrock(body, headers, path);
    expect([400, 403]).toContain(response.status);
    expect(response.headers.get("x-amzn-errortype")).toMatch(/^\w+Exception:/);
  });
});

describe("the simulated Vertex AI refuses", () => {
  test.each<[string, object, number, Record<string, string>?, string?]>([
    ["the model in the body", { model: "claude-opus-5" }, 400],
    ["the version of the vendor itself", { anthropic_version: "2023-06-01" }, 400],
    ["a stream by the other method", { stream: true }, 400],
    ["a link", { messages: [link] }, 400],
    ["an unknown model", {}, 404, TOKEN, "claude-none:rawPredict"],
    ["a wrong token", {}, 401, { ...JSON_TYPE, authorization: "Bearer bad" }],
    ["a key of the vendor itself", {}, 401, { ...TOKEN, "x-api-key": "sk" }],
  ])("%s", async (_, body, status, headers = TOKEN, path = "claude-opus-5:rawPredict") => {
    expect((await toVertex(body, headers, path)).status).toBe(status);
  });
});
