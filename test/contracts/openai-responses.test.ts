import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { responses } from "../../src/dialects/responses/index.ts";
import type { VendorTerms } from "../../src/dialects/dialect.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import type { TextResponse, TextUpstream } from "../../src/gateway/upstreams.ts";
import { azure } from "../../src/providers/azure/index.ts";
import { compatibleProvider } from "../../src/providers/openai-compatible/compatible-provider.ts";
import { VENDORS } from "../../src/providers/openai-compatible/vendors.ts";
import { openai } from "../../src/providers/openai.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { shippedSettings } from "../support/image-calls.ts";
import { failureOf, readText } from "../support/openai-calls.ts";
import { readEvents } from "../support/responses-schema.ts";
import { conversations } from "../support/text-arbitraries.ts";
import { SIMULATED_KEY as AZURE_KEY, startAzure } from "../upstreams/azure.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { findResponsesFault } from "../upstreams/openai/responses-rules.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;
beforeAll(async () => {
  vendor = await startOpenAi();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const never = new AbortController().signal;

function upstreamAt(url: string, extra: object = {}): TextUpstream {
  const settings = openai.settings.parse({
    baseUrl: `${url}/v1`,
    apiKey: SIMULATED_KEY,
    responses: true,
    ...extra,
  });
  return openai.text!(settings).find(({ dialect }) => dialect === "responses")!;
}

function send(raw: string, upstream = upstreamAt(vendor.url)): Promise<TextResponse> {
  const isStream = raw.includes('"stream":true');
  return upstream.send({ raw, upstreamModel: "gpt-5.4", isStream, headers: {}, signal: never });
}

const bodyOf = (fields: object = {}) => JSON.stringify({ model: "gpt-5.4", input: "hi", ...fields });

test("shipped models that take functions only there are sent there whole", async () => {
  const { channels, routes } = await shippedSettings({ OPENAI_API_KEY: "k" });
  const upstreams = PROVIDERS.get("openai")!.open(
    channels.get("openai-responses")!.settings,
    new FairSemaphore(1),
  );
  expect(upstreams.text!.map(({ dialect }) => dialect)).toEqual(["responses"]);
  const newer = [...routes.declared].filter(([id]) => /^gpt-(5\.6|6)/.test(id));
  expect(newer.length).toBeGreaterThan(5);
  for (const [, { targets }] of newer)
    expect(targets.map(({ channel }) => channel.id)).toEqual(["openai-responses"]);
});

test("which channels speak the protocol", () => {
  const dialects = <Settings>(provider: Provider<Settings>, settings: object) =>
    provider.text!(provider.settings.parse(settings)).map(({ dialect }) => dialect);
  expect(dialects(openai, { apiKey: "k" })).toEqual(["chat", "responses"]);
  expect(dialects(openai, { apiKey: "k", baseUrl: "https://vendor.example/v1" })).toEqual(["chat"]);
  expect(dialects(openai, { apiKey: "k", responses: false })).toEqual(["chat"]);
  expect(dialects(openai, { apiKey: "k", responses: "only" })).toEqual(["responses"]);
  const vllm = compatibleProvider(VENDORS.vllm);
  const own = { baseUrl: "http://127.0.0.1:8000/v1" };
  expect(dialects(vllm, own)).toEqual(["chat"]);
  expect(dialects(vllm, { ...own, responses: true })).toEqual(["chat", "responses"]);
  const resource = { baseUrl: "https://r.openai.azure.com", apiKey: "k" };
  expect(dialects(azure, resource)).toEqual(["chat", "responses"]);
  expect(dialects(azure, { ...resource, surface: "classic" })).toEqual(["chat"]);
});

describe("a request", () => {
  test("is sent unchanged to the protocol's path", async () => {
    const raw = '{ "model":"gpt-5.4","input":"h\\u00e9é" }';
    const response = await send(raw);
    expect(response).toMatchObject({ kind: "whole", requestId: "req_simulated0001" });
    const hit = vendor.hits[0]!;
    expect([hit.path, hit.body.toString(), hit.headers["accept"]]).toEqual([
      "/v1/responses",
      raw,
      "application/json",
    ]);
  });

  test("for a stream returns the vendor's events unchanged", async () => {
    const events = readEvents(await readText(await send(bodyOf({ stream: true }))));
    expect(events.at(0)!.type).toBe("response.created");
    expect(events.at(-1)!.type).toBe("response.completed");
    expect(vendor.hits[0]!.headers["accept"]).toBe("text/event-stream");
  });

  test("goes to a deployment of Azure by the v1 surface", async () => {
    await using resource = await startAzure();
    const settings = azure.settings.parse({ baseUrl: resource.url, apiKey: AZURE_KEY });
    const upstream = azure.text!(settings).find(({ dialect }) => dialect === "responses")!;
    expect(await send(bodyOf(), upstream)).toMatchObject({ kind: "whole" });
    const [hit] = resource.hits;
    expect(`${hit!.path}?${hit!.query}`).toBe("/openai/v1/responses?api-version=v1");
  });
});

describe("a failure", () => {
  const rows: { behaviour: Behaviour; kind: UpstreamErrorKind }[] = [
    { behaviour: { fault: "unauthorized" }, kind: "account" },
    { behaviour: { fault: "insufficient-quota" }, kind: "account" },
    { behaviour: { fault: "unknown-model" }, kind: "account" },
    { behaviour: { fault: "rate-limited" }, kind: "limited" },
    { behaviour: { fault: "context-length" }, kind: "too_long" },
    { behaviour: { fault: "content-refused" }, kind: "refused" },
    { behaviour: { fault: "error-status", status: 500 }, kind: "overloaded" },
    { behaviour: { fault: "error-in-200" }, kind: "overloaded" },
    { behaviour: { fault: "truncated" }, kind: "broken" },
    { behaviour: { fault: "html" }, kind: "broken" },
    { behaviour: { fault: "empty" }, kind: "broken" },
  ];
  test.each(rows)("by $behaviour is $kind", async ({ behaviour, kind }) => {
    vendor.next(behaviour);
    expect(await failureOf(send(bodyOf()))).toMatchObject({ kind });
  });
});

describe("encrypted reasoning of another account", () => {
  const input = [
    { role: "user", content: "hi" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc-two-1" },
    { type: "message", id: "msg_1", role: "assistant", content: "hello" },
    { role: "user", content: "and?" },
  ];

  test.each([{ stream: true }, {}])("is left out in a second call %o", async (fields) => {
    const response = await send(bodyOf({ input, ...fields }));
    expect(response.kind).toBe("stream" in fields ? "stream" : "whole");
    expect(vendor.hits.map(({ status }) => status)).toEqual([400, 200]);
    expect(vendor.hits[1]!.json()["input"]).toEqual([input[0], input[2], input[3]]);
  });

  test("is tried twice at most", async () => {
    vendor.next({}, { fault: "error-status", status: 500 });
    expect(await failureOf(send(bodyOf({ input })))).toMatchObject({ kind: "overloaded" });
    expect(vendor.hits).toHaveLength(2);
  });
});

test("whatever a caller of another protocol can say, the vendor takes", () => {
  const terms: VendorTerms = {
    upstreamModel: "gpt-5.4",
    traits: {},
    coveredTokens: null,
    model: { id: "public", maxOutputTokens: 64_000, reasoning: "effort" },
  };
  let written = 0;
  const property = fc.property(conversations, (conversation) => {
    let raw: string;
    // The simulated vendor checks strict schemas, so no schema here is strict.
    const tools = conversation.tools.map((tool) => ({
      ...tool,
      strict: tool.strict === true ? null : tool.strict,
    }));
    try {
      raw = responses.writeConversation({ ...conversation, stop: [], tools }, terms);
    } catch (error) {
      expect(error).toMatchObject({ isUnsent: true, param: expect.any(String) });
      expect(error).toBeInstanceOf(UpstreamError);
      return;
    }
    written += 1;
    const request = { headers: { "content-type": "application/json" }, body: Buffer.from(raw) };
    expect(findResponsesFault(request as never, ["gpt-5.4"], "other")?.code ?? null).toBeOneOf([
      null,
      // The signatures in these conversations are invented.
      "invalid_encrypted_content",
    ]);
  });
  fc.assert(property, { numRuns: 300 });
  expect(written).toBeGreaterThan(50);
});
