import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import type { TextUpstream } from "../../src/gateway/upstreams.ts";
import { anthropic } from "../../src/providers/anthropic.ts";
import { failureOf, readText } from "../support/openai-calls.ts";
import { describeTransportFaults } from "../support/vendor-contract.ts";
import { SIMULATED_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startAnthropic();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const never = new AbortController().signal;
const open = (baseUrl = vendor.url): TextUpstream =>
  anthropic.text!(anthropic.settings.parse({ baseUrl, apiKey: SIMULATED_KEY }))[0]!;

function call(body: object = {}, { headers = {}, signal = never, upstream = open() } = {}) {
  const whole = {
    model: "claude-haiku-4-5",
    max_tokens: 50,
    messages: [{ role: "user", content: "hi" }],
    ...body,
  };
  const isStream = "stream" in whole && whole.stream === true;
  return upstream.send({
    raw: JSON.stringify(whole),
    upstreamModel: whole.model,
    isStream,
    headers,
    signal,
  });
}

describe("a messages request", () => {
  test("is sent unchanged, with the channel's own headers and the caller's of the protocol", async () => {
    const raw =
      '{ "model":"claude-haiku-4-5","max_tokens":5 ,"messages":[{"role":"user","content":"h\\u00e9é"}] }';
    const headers = { "anthropic-beta": "a-2026-01-01,b", "anthropic-version": "2026-10-21" };
    await open().send({ raw, upstreamModel: "claude-haiku-4-5", headers, isStream: false, signal: never });
    const hit = vendor.hits[0]!;
    expect(hit.path).toBe("/v1/messages");
    expect(hit.body.toString()).toBe(raw);
    expect(hit.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      "anthropic-beta": "a-2026-01-01,b",
      "anthropic-version": "2026-10-21",
      connection: "keep-alive",
      "content-length": String(Buffer.byteLength(raw)),
      "content-type": "application/json",
      host: hit.headers["host"]!,
      "user-agent": "model-inference-gateway",
      "x-api-key": SIMULATED_KEY,
    });
  });

  test("without a version of its own gets the oldest", async () => {
    await call({ temperature: 0.5 });
    expect(vendor.hits[0]!.headers["anthropic-version"]).toBe("2023-06-01");
  });

  test("returns the text of a whole response, its parsed JSON and the vendor's id of the call", async () => {
    const response = await call();
    if (response.kind !== "whole") throw new Error("not whole");
    expect(response.parsed).toEqual(JSON.parse(response.text));
    expect(response.parsed).toMatchObject({ type: "message", stop_reason: "end_turn" });
    expect(response.requestId).toBe("req_simulated0001");
  });

  test("for a stream returns the vendor's events unchanged", async () => {
    const text = await readText(await call({ stream: true }));
    expect(vendor.hits[0]!.headers["accept"]).toBe("text/event-stream");
    const names = text.match(/(?<=event: )\w+/g)!;
    expect([names[0], names[1], names.at(-2), names.at(-1)]).toEqual([
      "message_start",
      "ping",
      "message_delta",
      "message_stop",
    ]);
  });

  test("for a stream may return the whole response", async () => {
    vendor.next("json-for-stream");
    expect((await call({ stream: true })).kind).toBe("whole");
  });

  test("is counted at the vendor, without running", async () => {
    const raw = JSON.stringify({ model: "claude-haiku-4-5", messages: [{ role: "user", content: "hi" }] });
    const counted = { raw, upstreamModel: "", isStream: false, headers: {}, signal: never };
    expect(JSON.parse(await open().countTokens!(counted))).toEqual({
      input_tokens: Math.ceil(raw.length / 4),
    });
    expect(vendor.hits[0]!.path).toBe("/v1/messages/count_tokens");
  });
});

describe("an error of the vendor", () => {
  const rows: [string, Behaviour, UpstreamErrorKind, string | undefined][] = [
    ["429 with a wait", { fault: "rate-limited", retryAfter: "7" }, "limited", undefined],
    ["429 of a spend limit", { fault: "spend-limit" }, "account", undefined],
    ["400 of an empty balance", { fault: "insufficient-quota" }, "account", undefined],
    ["401", { fault: "unauthorized" }, "account", undefined],
    ["402", { fault: "error-status", status: 402 }, "account", undefined],
    ["403", { fault: "forbidden" }, "account", undefined],
    ["404 of a model", { fault: "unknown-model" }, "account", undefined],
    ["413", { fault: "error-status", status: 413 }, "too_large", "Trouble"],
    ["500", { fault: "error-status", status: 500 }, "overloaded", undefined],
    ["504", { fault: "error-status", status: 504 }, "overloaded", undefined],
    ["529", { fault: "error-status", status: 529, retryAfter: "3" }, "overloaded", undefined],
    [
      "a blocked output",
      { fault: "content-refused" },
      "refused",
      "Output blocked by content filtering policy",
    ],
    [
      "too long a prompt",
      { fault: "context-length" },
      "too_long",
      "prompt is too long: 213462 tokens > 200000 maximum",
    ],
    ["an error in 200", { fault: "error-in-200" }, "overloaded", undefined],
  ];
  test.each(rows)("by %s", async (_, behaviour, kind, publicMessage) => {
    vendor.next(behaviour);
    const error = await failureOf(call());
    expect(error).toMatchObject({ kind, publicMessage, isAmbiguous: false });
    const seconds = Number(behaviour.retryAfter);
    expect(error.retryAfterSeconds).toBe(Number.isNaN(seconds) ? undefined : seconds);
  });

  test("names the field to change, in the vendor's words without its name", async () => {
    const error = await failureOf(call({ thinking: { type: "adaptive" } }));
    expect(error.publicMessage).toBe("adaptive thinking is not supported on this model");
    expect(error.requestId).toBe("req_simulated0001");
  });

  test("of the edge, which is no JSON, is known by its status", async () => {
    vendor.next("html");
    expect((await failureOf(call())).kind).toBe("broken");
  });
});

describeTransportFaults("the messages protocol", () => ({
  vendor,
  secret: SIMULATED_KEY,
  generate: (signal) => call({}, { signal }),
  generateAt: (baseUrl) => call({}, { upstream: open(baseUrl) }),
  echo: "echo-authorization",
}));
