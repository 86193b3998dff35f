import { textOf } from "../support/bytes.ts";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import { textUpstreams } from "../../src/gateway/text-upstreams.ts";
import type { TextCall } from "../../src/gateway/upstreams.ts";
import { vertex } from "../../src/providers/vertex/index.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { SIMULATED_PROJECT } from "../upstreams/gemini.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";
import { startVertexClaude } from "../upstreams/vertex-claude.ts";

/* Claude in a cloud project, on the channel of Gemini. */
const HAIKU = "claude-haiku-4-5@20251001";
const tokens = await startTokenServer();
const revoked = new Set<string>();
const accepts = (token: string) => tokens.granted.includes(token) && !revoked.has(token);
const vendors = {
  global: await startVertexClaude({ accepts }),
  eu: await startVertexClaude({ accepts, region: "eu" }),
};
const vendor = vendors.global;

afterAll(() => Promise.all([vendors.global.close(), vendors.eu.close(), tokens.close()]));
beforeEach(() => {
  vendors.global.reset();
  vendors.eu.reset();
});

function upstreamsFor(upstreamModel: string, region: "global" | "eu" = "global") {
  const settings = { baseUrl: vendors[region].url, apiKey: tokens.accountKey, region };
  const all = vertex.text!(vertex.settings.parse(settings));
  const channel = { id: "vertex", provider: "vertex", settings };
  return textUpstreams(
    { text: () => all, image: () => undefined, embedding: () => undefined },
    { channel, upstreamModel, weight: 1 },
  );
}
const upstream = upstreamsFor(HAIKU)[0]!;

const RAW = `{"model":"${HAIKU}","max_tokens":64,"stream":false, "messages":[{"role":"user","content":"12345678901234567890 \\u00e9"}]}`;
const callOf = (change: Partial<TextCall> = {}): TextCall => ({
  raw: RAW,
  upstreamModel: HAIKU,
  isStream: false,
  headers: { "anthropic-version": "2026-10-21" },
  signal: new AbortController().signal,
  ...change,
});
const failureOf = async (behaviour: Behaviour): Promise<UpstreamError> => {
  vendor.next(behaviour);
  return (await upstream.send(callOf()).catch((error: unknown) => error)) as UpstreamError;
};

test("a channel speaks the protocol of the model's publisher", () => {
  expect(upstreamsFor(HAIKU).map(({ dialect }) => dialect)).toEqual(["messages"]);
  expect(upstreamsFor("gemini-3.8-flash").map(({ dialect }) => dialect)).toEqual(["native"]);
});

test.each(["global", "eu"] as const)(
  "a request goes to the model's address in %s, else as it is",
  async (region) => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "one-2025-01-01" };
    const reply = await upstreamsFor(HAIKU, region)[0]!.send(callOf({ headers }));
    expect(reply).toMatchObject({ kind: "whole", requestId: "req_simulated0001" });
    const [hit] = vendors[region].hits;
    expect([hit!.path, hit!.body.toString()]).toEqual([
      `/v1/projects/${SIMULATED_PROJECT}/locations/${region}/publishers/anthropic/models/${HAIKU}:rawPredict`,
      '{"anthropic_version":"vertex-2023-10-16","max_tokens":64,"stream":false, "messages":[{"role":"user","content":"12345678901234567890 \\u00e9"}]}',
    ]);
    expect(hit!.headers["authorization"]).toBe(`Bearer ${tokens.granted.at(-1)}`);
    expect([hit!.headers["anthropic-beta"], hit!.headers["anthropic-version"]]).toEqual([
      "one-2025-01-01",
      undefined,
    ]);
  },
);

test("a stream passes as it came", async () => {
  const reply = await upstream.send(callOf({ isStream: true, raw: RAW.replace("false", "true") }));
  if (reply.kind !== "stream") throw new Error("no stream");
  const text = await textOf(reply.stream);
  expect(text).toStartWith("event: message_start\n");
  expect(vendor.hits[0]!.path).toEndWith(":streamRawPredict");
});

test("tokens are counted at the address for it, with the model in the body", async () => {
  const raw = `{"model":"${HAIKU}","messages":[{"role":"user","content":"Hi"}]}`;
  expect(JSON.parse(await upstream.countTokens!(callOf({ raw })))).toEqual({
    input_tokens: expect.any(Number),
  });
  expect(vendor.hits[0]!.path).toEndWith("/publishers/anthropic/models/count-tokens:rawPredict");
  expect(vendor.hits[0]!.json()["model"]).toBe(HAIKU);
});

describe("a failure", () => {
  test.each<[Behaviour, string, object]>([
    [{ fault: "rate-limited", retryAfter: "9" }, "limited", { retryAfterSeconds: 9 }],
    [{ fault: "error-status", status: 529 }, "overloaded", {}],
    [{ fault: "context-length" }, "too_long", {}],
    [{ fault: "truncated" }, "broken", {}],
    [{ fault: "html" }, "broken", {}],
    [{ fault: "redirect" }, "broken", {}],
  ])("%j of the model is %s", async (behaviour, kind, detail) => {
    expect(await failureOf(behaviour)).toMatchObject({ kind, ...detail });
  });

  test("of the cloud itself has Google's form", async () => {
    const raw = RAW.replace(HAIKU, "claude-none");
    const call = upstream.send(callOf({ raw, upstreamModel: "claude-none" }));
    await expect(call).rejects.toMatchObject({ status: 404 });
    revoked.add(tokens.granted.at(-1)!);
    await expect(upstream.send(callOf())).rejects.toMatchObject({ kind: "account", status: 401 });
    expect(await upstream.send(callOf())).toMatchObject({ kind: "whole" });
  });

  test("never repeats the token", async () => {
    const shown = Bun.inspect(await failureOf({ fault: "echo-authorization" }));
    expect(shown).not.toContain(tokens.granted.at(-1)!);
  });
});
