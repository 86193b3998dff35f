import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { streamsOfSilence, WHOLE } from "../battery/silence.ts";
import { findBalancer } from "../support/balancers.ts";
import { until } from "../support/gateway.ts";
import { CHAT, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

const hasNone = "missing" in findBalancer("nginx") || "missing" in findBalancer("haproxy");
if (hasNone) console.warn("skipped: nginx and haproxy are needed for test/e2e/silent-vendors.test.ts");

test.skipIf(hasNone)(
  "balancers that end silent responses lose no stream of a vendor that is silent for longer",
  async () => {
    const streams = await streamsOfSilence({ seconds: 3.5, firstByteSeconds: 1, readSeconds: 2 });
    expect(streams).toHaveLength(8);
    for (const { name, status, text, beganMs } of streams) {
      expect([name, status]).toEqual([name, 200]);
      expect(beganMs).toBeLessThan(2_000);
      expect(text).toMatch(WHOLE);
    }
  },
  30_000,
);

describe("a stream that has begun without content", () => {
  let fixture: GatewayFixture;
  beforeAll(async () => {
    fixture = await openGatewayFixture({ firstByteSeconds: 0.1, firstByteMs: 600 });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const begin = (content: string, requestId: string, signal?: AbortSignal) =>
    fixture.gateway.call("/v1/chat/completions", {
      body: { model: CHAT, stream: true, messages: [{ role: "user", content }] },
      headers: { "x-request-id": requestId },
      ...(signal && { signal }),
    });
  const lineOf = (requestId: string) =>
    until("the log line", () => fixture.gateway.logs().find((line) => line["request_id"] === requestId));

  test("ends the vendor's call when its client disconnects, which costs the input", async () => {
    const closes = fixture.vendor.hits.filter(({ closedAt }) => closedAt !== null).length;
    const client = new AbortController();
    const response = await begin("[[stall]]", "gone-silent", client.signal);
    expect(response.status).toBe(200);
    client.abort();
    await fixture.vendor.waitForClose(closes + 1);
    const [row, ...others] = await fixture.gateway.charged("gone-silent");
    expect(others).toEqual([]);
    expect(row!.flags).toEqual(["partial", "caller_gone", "estimated"]);
    expect(row!.consumed!.tokens!["output"]).toBe(0);
    expect(await lineOf("gone-silent")).toMatchObject({ level: "info", status: 200, code: "caller_gone" });
  });

  test("ends with a bare error on the native protocol, which its client throws and an array has as its item", async () => {
    const body = { contents: [{ role: "user", parts: [{ text: "[[stall]]" }] }] };
    const path = `/v1beta/models/${CHAT}:streamGenerateContent`;
    const array = fixture.gateway.call(path, { body });
    const events = await (await fixture.gateway.call(`${path}?alt=sse`, { body })).text();
    const bare = events.replaceAll(": keep-alive\n\n", "");
    expect(JSON.parse(bare)).toMatchObject({ error: { code: 504 } });
    expect(await (await array).json()).toEqual([JSON.parse(bare)]);
    const { gateway } = fixture;
    const client = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    const stream = await client.models.generateContentStream({ model: CHAT, contents: "[[stall]]" });
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ status: 504 });
  });

  test("ends with the error of the last target and costs nothing", async () => {
    const response = await begin("[[stall]]", "silent-to-the-end");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"code":"upstream_timeout"');
    const line = await lineOf("silent-to-the-end");
    expect(line).toMatchObject({ status: 200, code: "upstream_timeout" });
    expect(line).not.toHaveProperty("ledger_id");
  });

  test("names the hints that the target which is being called is not sent", async () => {
    const requestId = "hints-in-silence";
    const response = await fixture.gateway.call(`/v1beta/models/${CHAT}:streamGenerateContent?alt=sse`, {
      body: { contents: [{ role: "user", parts: [{ text: "[[stall]]" }] }], generationConfig: { topK: 64 } },
      headers: { "x-request-id": requestId },
    });
    expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([
      200,
      "generationConfig.topK",
    ]);
    expect(await response.text()).toStartWith(": keep-alive");
    const [attempt] = (await lineOf(requestId))["attempts"] as object[];
    expect(attempt).toMatchObject({ ignored_params: ["generationConfig.topK"] });
  });
});
