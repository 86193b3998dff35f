import { textOf } from "../support/bytes.ts";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import type { TextCall } from "../../src/gateway/upstreams.ts";
import { gemini } from "../../src/providers/gemini.ts";
import { vertex } from "../../src/providers/vertex/index.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { SIMULATED_KEY, SIMULATED_PROJECT, startGemini, startVertex } from "../upstreams/gemini.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";

/* Text at both kinds of address of the vendor: for API keys and in a cloud project. */
const MODEL = "gemini-3.8-flash";
const tokens = await startTokenServer();
const revoked = new Set<string>();
const vendors = {
  gemini: await startGemini(),
  vertex: await startVertex({ accepts: (token) => tokens.granted.includes(token) && !revoked.has(token) }),
};

afterAll(() => Promise.all([vendors.gemini.close(), vendors.vertex.close(), tokens.close()]));
beforeEach(() => {
  vendors.gemini.reset();
  vendors.vertex.reset();
});

const open = {
  gemini: () =>
    gemini.text!(gemini.settings.parse({ baseUrl: vendors.gemini.url, apiKey: SIMULATED_KEY }))[0]!,
  vertex: () =>
    vertex.text!(vertex.settings.parse({ baseUrl: vendors.vertex.url, apiKey: tokens.accountKey }))[0]!,
};
const PATHS = {
  gemini: `/v1beta/models/${MODEL}`,
  vertex: `/v1beta1/projects/${SIMULATED_PROJECT}/locations/global/publishers/google/models/${MODEL}`,
};
const body = { contents: [{ role: "user", parts: [{ text: "a fox" }] }] };
const callOf = (change: Partial<TextCall> = {}): TextCall => ({
  raw: JSON.stringify(body),
  upstreamModel: MODEL,
  isStream: false,
  headers: {},
  signal: new AbortController().signal,
  ...change,
});

describe.each(["gemini", "vertex"] as const)("text of %s", (name) => {
  const vendor = vendors[name];
  const send = (change: Partial<TextCall> = {}) => open[name]().send(callOf(change));
  const failureOf = async (behaviour: Behaviour): Promise<UpstreamError> => {
    vendor.next(behaviour);
    return (await send().catch((error: unknown) => error)) as UpstreamError;
  };

  test("goes to the model's address as it is and comes back as it was", async () => {
    const reply = await send();
    expect(reply).toMatchObject({ kind: "whole", requestId: "req_simulated0001" });
    const [hit] = vendor.hits;
    expect([hit!.path, hit!.body.toString()]).toEqual([
      `${PATHS[name]}:generateContent`,
      JSON.stringify(body),
    ]);
  });

  test("streams as server-sent events", async () => {
    const reply = await send({ isStream: true });
    if (reply.kind !== "stream") throw new Error("no stream");
    const text = await textOf(reply.stream);
    expect(text.split("\n\n").every((frame) => frame === "" || frame.startsWith("data: {"))).toBe(true);
    expect(vendor.hits[0]!.path).toBe(`${PATHS[name]}:streamGenerateContent`);
  });

  test("takes a whole reply to a stream", async () => {
    vendor.next("json-for-stream");
    expect(await send({ isStream: true })).toMatchObject({ kind: "whole" });
  });

  test("counts instructions and functions too", async () => {
    const asked = {
      ...body,
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "look" }] }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    };
    const raw = JSON.stringify(asked);
    const counted = JSON.parse(await open[name]().countTokens!(callOf({ raw })));
    const reply = await send({ raw });
    if (reply.kind !== "whole") throw new Error("no reply");
    expect(counted.totalTokens).toBe(JSON.parse(reply.text).usageMetadata.promptTokenCount);
  });

  test.each<[Behaviour, string, object]>([
    [{ fault: "rate-limited" }, "limited", { retryAfterSeconds: 35 }],
    [{ fault: "error-status", text: "RETRY_ADVICE" }, "limited", { retryAfterSeconds: 47 }],
    [{ fault: "error-status", text: "NO_QUOTA" }, "account", {}],
    [{ fault: "insufficient-quota" }, "account", {}],
    [{ fault: "unauthorized" }, "account", { status: 400 }],
    [{ fault: "error-status", text: "SPENDING_CAP" }, "account", {}],
    [{ fault: "error-status", text: "INPUT_TOO_LONG" }, "too_long", {}],
    [{ fault: "error-status", text: "UNAVAILABLE" }, "overloaded", {}],
    [{ fault: "error-status", text: "DEADLINE_EXCEEDED" }, "overloaded", {}],
    [{ fault: "error-in-200" }, "overloaded", {}],
    [{ fault: "html" }, "broken", {}],
    [{ fault: "truncated" }, "broken", {}],
  ])("%j is %s", async (behaviour, kind, detail) => {
    const failure = await failureOf(behaviour);
    expect(failure).toMatchObject({ kind, ...detail });
    expect(`${failure.message} ${failure.publicMessage}`).not.toMatch(/AIza|Bearer|googleapis/);
  });
});

test("a token that is no longer accepted is not used again", async () => {
  const upstream = open.vertex();
  await upstream.send(callOf());
  const used = tokens.granted.at(-1)!;
  revoked.add(used);
  await expect(upstream.send(callOf())).rejects.toMatchObject({ kind: "account", status: 401 });
  await upstream.send(callOf());
  expect(vendors.vertex.hits.at(-1)!.headers["authorization"]).not.toBe(`Bearer ${used}`);
});
