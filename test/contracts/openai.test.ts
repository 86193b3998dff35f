import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { callOpenAi, failureOf, readText, type OpenAiCalls } from "../support/openai-calls.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Fault, Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;
let calls: OpenAiCalls;

beforeAll(async () => {
  vendor = await startOpenAi();
  calls = callOpenAi(vendor.url);
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

describe("a chat request", () => {
  test("is sent unchanged, with the channel's own headers only", async () => {
    const own = callOpenAi(vendor.url, { organization: "org-1", project: "proj-1" });
    const raw = '{ "model":"gpt-5.4","messages":[{"role":"user","content":"h\\u00e9é"}] }';
    await own.text.send({
      raw,
      upstreamModel: "gpt-5.4",
      headers: {},
      isStream: false,
      signal: new AbortController().signal,
    });
    const hit = vendor.hits[0]!;
    expect(hit.body.toString()).toBe(raw);
    expect(hit.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: `Bearer ${SIMULATED_KEY}`,
      connection: "keep-alive",
      "content-length": String(Buffer.byteLength(raw)),
      "content-type": "application/json",
      host: hit.headers["host"]!,
      "openai-organization": "org-1",
      "openai-project": "proj-1",
      "user-agent": "model-inference-gateway",
    });
  });

  test("returns the text of a whole response and its parsed JSON", async () => {
    const response = await calls.chat({});
    if (response.kind !== "whole") throw new Error("not whole");
    expect(response.parsed).toEqual(JSON.parse(response.text));
    expect(response.parsed).toMatchObject({ object: "chat.completion", usage: { completion_tokens: 8 } });
    expect(vendor.totals).toMatchObject({ received: 1, delivered: 1, usages: [{ completion_tokens: 8 }] });
  });

  test("for a stream returns the vendor's events unchanged", async () => {
    const body = { stream: true, stream_options: { include_usage: true } };
    const text = await readText(await calls.chat(body));
    const frames = text.trimEnd().split("\n\n");
    expect(vendor.hits[0]!.headers["accept"]).toBe("text/event-stream");
    expect(frames).toHaveLength(1 + 8 + 1 + 1 + 1);
    expect(frames.at(-2)).toContain('"choices":[],"usage":{"prompt_tokens"');
    expect(frames.at(-1)).toBe("data: [DONE]");
    expect(vendor.totals.usages).toHaveLength(1);
  });

  test("with tools gets a tool call", async () => {
    const parameters = { type: "object", required: ["city"], properties: { city: { type: "string" } } };
    const tools = [{ type: "function", function: { name: "weather", parameters } }];
    expect(await readText(await calls.chat({ tools }))).toContain('"finish_reason":"tool_calls"');
    expect(await readText(await calls.chat({ tools, stream: true }))).toContain(
      '"name":"weather","arguments":""',
    );
  });

  const oddities: Fault[] = [
    "usage-null",
    "usage-strings",
    "usage-twice",
    "no-done",
    "done-twice",
    "chunk-after-done",
    "error-frame-first",
    "error-frame-later",
    "choices-null",
    "one-byte",
    "crlf",
    "cr",
    "comments",
    "no-space",
  ];
  test.each(oddities)("for a stream passes on %s unchanged", async (fault) => {
    vendor.next({ fault, text: "größer 写字" });
    const text = await readText(await calls.chat({ stream: true, stream_options: { include_usage: true } }));
    expect(text).not.toContain("\uFFFD");
    expect(text).toContain(fault.startsWith("error-frame") ? "server_error" : "data:");
  });

  test("for a stream returns a whole response as whole", async () => {
    vendor.next("json-for-stream");
    expect((await calls.chat({ stream: true })).kind).toBe("whole");
  });

  test.each(["gzip", "br"] as const)("decompresses a response that came unrequested as %s", async (fault) => {
    vendor.next(fault, fault);
    expect(await readText(await calls.chat({}))).toContain("word7");
    expect(await readText(await calls.chat({ stream: true }))).toContain("[DONE]");
  });

  test("waits for a slow response", async () => {
    vendor.next({ fault: "slow-drip", frameDelayMs: 0, tokens: 1 });
    expect(await readText(await calls.chat({}))).toContain("word0");
  });
});

describe("a failure", () => {
  interface Row {
    behaviour: Behaviour;
    kind: UpstreamErrorKind;
    status?: number;
    isAmbiguous?: boolean;
    retryAfterSeconds?: number;
    publicMessage?: string;
    param?: string;
  }
  const rows: Row[] = [
    { behaviour: { fault: "reset-before-headers" }, kind: "unreachable", isAmbiguous: true },
    { behaviour: { fault: "close-before-headers" }, kind: "unreachable", isAmbiguous: true },
    { behaviour: { fault: "garbage" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "html" }, kind: "broken", status: 200 },
    { behaviour: { fault: "empty" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "redirect" }, kind: "broken", status: 302 },
    { behaviour: { fault: "flood" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "gzip-bomb" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "truncated" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "reset-midway" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "close-midway" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "choices-null" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "choices-missing" }, kind: "broken", isAmbiguous: true },
    { behaviour: { fault: "error-in-200" }, kind: "overloaded", status: 200 },
    // When no header contains the time to wait, the message contains this time.
    { behaviour: { fault: "rate-limited" }, kind: "limited", status: 429, retryAfterSeconds: 12 },
    { behaviour: { fault: "rate-limited", retryAfter: "7" }, kind: "limited", retryAfterSeconds: 7 },
    { behaviour: { fault: "rate-limited", retryAfter: "1.2" }, kind: "limited", retryAfterSeconds: 2 },
    { behaviour: { fault: "rate-limited", retryAfter: "-1" }, kind: "limited", retryAfterSeconds: 0 },
    { behaviour: { fault: "rate-limited", retryAfter: "1e9" }, kind: "limited", retryAfterSeconds: 3600 },
    { behaviour: { fault: "rate-limited", retryAfter: "soon" }, kind: "limited", retryAfterSeconds: 12 },
    {
      behaviour: { fault: "rate-limited", retryAfter: "Thu, 01 Jan 1970 00:00:00 GMT" },
      kind: "limited",
      retryAfterSeconds: 0,
    },
    { behaviour: { fault: "insufficient-quota", retryAfter: "5" }, kind: "account", status: 429 },
    { behaviour: { fault: "unauthorized" }, kind: "account", status: 401 },
    { behaviour: { fault: "forbidden" }, kind: "account", status: 403 },
    { behaviour: { fault: "unknown-model" }, kind: "account", status: 404 },
    { behaviour: { fault: "error-status", status: 402 }, kind: "account", status: 402 },
    { behaviour: { fault: "error-status", status: 500 }, kind: "overloaded", status: 500 },
    { behaviour: { fault: "error-status", status: 502 }, kind: "overloaded", status: 502 },
    {
      behaviour: { fault: "error-status", status: 503, retryAfter: "3" },
      kind: "overloaded",
      retryAfterSeconds: 3,
    },
    { behaviour: { fault: "error-status", status: 529 }, kind: "overloaded", status: 529 },
    {
      behaviour: { fault: "context-length" },
      kind: "too_long",
      status: 400,
      param: "messages",
      publicMessage:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    },
    {
      behaviour: { fault: "content-refused" },
      kind: "refused",
      status: 400,
      publicMessage: "Your request was rejected by the safety system.",
    },
    { behaviour: { fault: "echo-authorization" }, kind: "rejected", publicMessage: "Send another one." },
  ];
  test.each(rows)("by $behaviour is $kind", async ({ behaviour, kind, ...detail }) => {
    vendor.next(behaviour);
    const error = await failureOf(calls.chat({}));
    expect({ ...error, kind: error.kind }).toMatchObject({ kind, ...detail });
    expect(error.retryAfterSeconds).toBe(detail.retryAfterSeconds);
    expect(error.publicMessage).toBe(detail.publicMessage);
    expect(error.isAmbiguous).toBe(detail.isAmbiguous ?? false);
    expect(`${error.message} ${error.publicMessage}`).not.toContain(SIMULATED_KEY);
    expect(vendor.hits).toHaveLength(1);
  });

  test("before a stream begins has the same kind", async () => {
    const body = { stream: true };
    vendor.next("html", "empty", "redirect", "rate-limited", "error-json-for-stream", "error-in-200");
    const kinds: string[] = [];
    for (let index = 0; index < 6; index += 1) kinds.push((await failureOf(calls.chat(body))).kind);
    expect(kinds).toEqual(["broken", "broken", "broken", "limited", "limited", "overloaded"]);
  });

  test.each(["reset-midway", "close-midway"] as const)(
    "in the middle of a stream (%s) reaches its reader",
    async (fault) => {
      vendor.next({ fault, after: 3 });
      const response = await calls.chat({ stream: true });
      expect(readText(response)).rejects.toThrow();
    },
  );

  test("to connect is unreachable and not ambiguous", async () => {
    const closed = await startOpenAi();
    await closed.close();
    const error = await failureOf(callOpenAi(closed.url).chat({}));
    expect(error).toMatchObject({ kind: "unreachable", isAmbiguous: false });
  });

  test("by a wrong key, an unknown model or an unknown field has the vendor's kind", async () => {
    const stranger = callOpenAi(vendor.url, { apiKey: "sk-wrong" });
    expect((await failureOf(stranger.chat({}))).kind).toBe("account");
    expect((await failureOf(calls.chat({ model: "nobody" }))).kind).toBe("account");
    expect(await failureOf(calls.chat({ provider: "x" }))).toMatchObject({
      kind: "rejected",
      param: "provider",
      publicMessage: "Unrecognized request argument supplied: provider",
    });
  });

  test("by redirect never sends the key to another host", async () => {
    await using other = await startOpenAi();
    vendor.next({ fault: "redirect", text: `${other.url}/v1/chat/completions` });
    expect((await failureOf(calls.chat({}))).kind).toBe("broken");
    expect(other.hits).toHaveLength(0);
  });
});

describe("an aborted signal", () => {
  const times: { when: string; behaviour: Behaviour; isStream: boolean }[] = [
    { when: "before a response", behaviour: { fault: "stall" }, isStream: false },
    { when: "during a whole response", behaviour: { fault: "stall-midway" }, isStream: false },
    { when: "at the start of a stream", behaviour: { fault: "stall-midway" }, isStream: true },
    { when: "during a stream", behaviour: { tokens: 100_000, frameDelayMs: 1 }, isStream: true },
  ];
  test.each(times)(
    "$when ends the call with its own reason and closes the socket within 100 ms",
    async (row) => {
      vendor.next(row.behaviour);
      const controller = new AbortController();
      const reason = new Error("the client disconnected");
      const call = calls.chat({ stream: row.isStream }, controller.signal).then(readText);
      const hit = await vendor.waitForHits(1);
      while (row.behaviour.fault !== "stall" && hit.status === null) await Bun.sleep(1);
      const abortedAt = performance.now();
      controller.abort(reason);
      expect(await call.catch((error: unknown) => error)).toBe(reason);
      expect((await vendor.waitForClose()) - abortedAt).toBeLessThan(100);
      expect(vendor.totals).toMatchObject({ received: 1, delivered: 0, usages: [] });
    },
  );

  test("that was aborted before sends nothing", async () => {
    const reason = new Error("too late");
    const call = calls.chat({}, AbortSignal.abort(reason));
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(vendor.hits).toHaveLength(0);
  });

  test("is not needed when the reader of a stream stops", async () => {
    vendor.next({ tokens: 100_000, frameDelayMs: 1 });
    const response = await calls.chat({ stream: true });
    if (response.kind !== "stream") throw new Error("not a stream");
    const reader = response.stream.getReader();
    await reader.read();
    const stoppedAt = performance.now();
    await reader.cancel();
    expect((await vendor.waitForClose()) - stoppedAt).toBeLessThan(100);
  });
});
