import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LedgerRow } from "../support/gateway.ts";
import { CHAT, chatNanos, openGatewayFixture, readError, type GatewayFixture } from "../support/vendor.ts";

/*
 * Streams of a misbehaving vendor. Before the first content, the client gets an error status or another target's
 * response. After the first content, the stream ends with usage and [DONE], or with an error event.
 */
const EARLY = [
  ["reset-before-headers", 502, "upstream_error"],
  ["html", 502, "upstream_error"],
  ["empty", 502, "upstream_error"],
  ["error-json-for-stream", 429, "rate_limit_exceeded"],
  ["error-frame-first", 503, "overloaded"],
  ["reset-midway after=1", 502, "upstream_error"],
  ["close-midway after=1", 502, "upstream_error"],
  ["truncated after=1", 502, "upstream_error"],
  ["stall-midway after=1", 504, "upstream_timeout"],
  ["stall", 504, "upstream_timeout"],
  ["content-refused", 400, "content_policy_violation"],
  ["done-only", 502, "upstream_error"],
  ["choices-null", 502, "upstream_error"],
  ["choices-missing", 502, "upstream_error"],
  ["choices-empty", 502, "upstream_error"],
] as const;

const LATE = [
  ["reset-midway after=5 frameDelayMs=100", "upstream_error"],
  ["close-midway after=5 frameDelayMs=100", "upstream_error"],
  ["truncated after=5 frameDelayMs=100", "upstream_error"],
  ["stall-midway after=5 frameDelayMs=100", "upstream_timeout"],
  ["error-frame-later after=4 frameDelayMs=100", "overloaded"],
] as const;

/** Complete streams with unusual framing, unusual or unusable usage, or unusual endings. */
const ODDITIES = [
  ["one-byte", []],
  ["slow-drip frameDelayMs=0 tokens=2", []],
  ["gzip", []],
  ["crlf", []],
  ["cr", []],
  ["comments", []],
  ["no-space", []],
  ["usage-twice", []],
  ["json-for-stream", []],
  ["done-twice", []],
  ["no-done", []],
  ["chunk-after-done", []],
  ["no-usage", ["estimated"]],
  ["usage-null", ["estimated"]],
  ["usage-strings", ["estimated", "anomalous"]],
  ["usage-negative", ["estimated", "anomalous"]],
  ["usage-huge", ["estimated", "anomalous"]],
  ["usage-float", ["estimated", "anomalous"]],
] as const;

const modelOf = (marker: string) => `lane-${marker.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`;

let fixture: GatewayFixture;
beforeAll(async () => {
  const markers = [...EARLY, ...LATE, ...ODDITIES].map(([marker]) => marker);
  fixture = await openGatewayFixture({
    firstByteMs: 800,
    idleMs: 800,
    maxAttempts: 2,
    extraModels: [...new Set(markers.map(modelOf))],
    fallbackModels: [
      "pair-reset",
      "pair-status",
      "pair-frame",
      "pair-stall",
      "pair-done",
      "pair-late",
      "pair-refused",
    ],
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const open = (model: string, prompt: string, requestId: string, extra: object = {}) =>
  fixture.gateway.call("/v1/chat/completions", {
    body: { model, stream: true, messages: [{ role: "user", content: prompt }], ...extra },
    headers: { "x-request-id": requestId },
  });
const hitsOf = (text: string) => fixture.vendor.hits.filter(({ body }) => body.includes(`"${text}`));

describe("a failure before the first content is a status", () => {
  test.concurrent.each(EARLY)(
    "%s is %d %s",
    async (marker, status, code) => {
      const requestId = `early-${modelOf(marker)}`;
      const response = await open(modelOf(marker), `${requestId} [[${marker}]]`, requestId);
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      expect(await readError(response)).toMatchObject({ code });
    },
    10_000,
  );

  test("and is free", async () => {
    await (await open(CHAT, "sentinel", "early-sentinel")).text();
    await fixture.gateway.charged("early-sentinel");
    const rows = await fixture.gateway.ledger();
    expect(rows.filter(({ request_id }) => request_id.startsWith("early-lane"))).toEqual([]);
  });
});

describe("a failure after the first content is an error event without [DONE]", () => {
  test.concurrent.each(LATE)(
    "%s ends with %s, and what was delivered is billed",
    async (marker, code) => {
      const requestId = `late-${modelOf(marker)}`;
      const response = await open(modelOf(marker), `${requestId} [[${marker}]]`, requestId);
      expect(response.status).toBe(200);
      const startedAt = performance.now();
      const { events, text, isDone } = readEvents(await response.text());
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(isDone).toBe(false);
      const last = events.pop();
      expect(Object.keys(last!)).toEqual(["error"]);
      expect(last!["error"]).toMatchObject({
        code,
        message: expect.any(String),
        type: "server_error",
        param: null,
      });
      expect(events.filter((event) => event["error"] ?? event["usage"])).toEqual([]);
      // A broken connection may lose the data in its buffers. Data before an error event is never lost.
      if (/frame-later|truncated/.test(marker)) expect(text).toBe("word0 word1 word2 word3 ");
      expect("word0 word1 word2 word3 ").toStartWith(text);
      expect(text).not.toBe("");
      expect(hitsOf(`${requestId} `)).toHaveLength(1);
      const [row, ...others] = await fixture.gateway.charged(requestId);
      expect(others).toEqual([]);
      expect(row!.flags.toSorted()).toEqual(["estimated", "partial"]);
      // A word and its number are two tokens. The final space is one.
      expect(row!.consumed!.tokens!["output"]).toBe(2 * text.split(" ").length - 1);
      expect(row!.amount).toBe(chatNanos(usageOf(row!)));
    },
    10_000,
  );
});

describe("an unusual stream is completed", () => {
  test.concurrent.each(ODDITIES)(
    "%s ends with one usage chunk and [DONE], flags %p",
    async (marker, flags) => {
      const requestId = `odd-${modelOf(marker)}`;
      const model = modelOf(marker);
      const response = await open(model, `${requestId} [[${marker}]]`, requestId);
      expect(response.status).toBe(200);
      const body = await response.text();
      const { events, text, isDone } = readEvents(body);
      expect(isDone).toBe(true);
      expect(body.split("[DONE]")).toHaveLength(2);
      expect(text).toBe(marker.includes("tokens=2") ? "word0 word1 " : WORDS);
      const reports = events.filter((event) => event["usage"]);
      expect(reports).toHaveLength(1);
      expect(events.at(-1)).toBe(reports[0]!);
      expect(reports[0]!["choices"]).toEqual([]);
      expect(new Set(events.map((event) => event["model"]))).toEqual(new Set([model]));
      const usage = reports[0]!["usage"] as Usage;
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
      expect(usage.completion_tokens).toBeWithin(1, 50);
      const [row, ...others] = await fixture.gateway.charged(requestId);
      expect(others).toEqual([]);
      expect(row!.flags).toEqual([...flags]);
      expect(row!.amount).toBe(chatNanos(usage));
    },
    10_000,
  );

  test.each(["one-byte", "crlf", "cr", "no-space", undefined] as const)(
    "characters of several bytes and tool arguments survive %p",
    async (fault) => {
      const text = 'Grüße 世界 \u{1F30A}\u{1F468}\u200D\u{1F469} \\" \u2028 end';
      fixture.vendor.next({ text, frames: 9, ...(fault && { fault }) });
      const received = readEvents(await (await open(CHAT, "say it", `split-${fault}`)).text());
      expect(received.text).toBe(text);
      fixture.vendor.next(fault ? { fault } : {});
      const tools = [{ type: "function", function: { name: "look", parameters: { required: ["ort"] } } }];
      const toolCall = readEvents(await (await open(CHAT, "look", `tool-${fault}`, { tools })).text());
      expect(JSON.parse(toolCall.toolArguments)).toEqual({ ort: "value" });
    },
  );
});

describe("another target takes over until the first content", () => {
  test.each([
    ["pair-reset", "reset-before-headers"],
    ["pair-status", { fault: "error-status", status: 500 }],
    ["pair-frame", "error-frame-first"],
    ["pair-stall", "stall"],
    ["pair-done", "done-only"],
  ] as const)("%s: the client gets one correct stream, billed once", async (model, plan) => {
    fixture.vendor.next(plan);
    const requestId = `over-${model}`;
    const response = await open(model, `${requestId} `, requestId);
    expect(response.status).toBe(200);
    const { events, text, isDone } = readEvents(await response.text());
    expect(text).toBe(WORDS);
    expect(isDone).toBe(true);
    expect(new Set(events.map((event) => event["model"]))).toEqual(new Set([model]));
    expect(hitsOf(`${requestId} `)).toHaveLength(2);
    const [row, ...others] = await fixture.gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ channel: CHAT, upstream_model: "gpt-5.4-mini", flags: [] });
    expect(row!.attempts.map(({ channel }) => channel)).toEqual([model, CHAT]);
  });

  test.each([
    ["pair-late", { fault: "error-frame-later", after: 4, frameDelayMs: 3 }, 200],
    ["pair-refused", "content-refused", 400],
  ] as const)("%s: no failover after it or for an invalid request", async (model, plan, status) => {
    fixture.vendor.next(plan);
    const requestId = `stay-${model}`;
    const response = await open(model, `${requestId} `, requestId);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain('"error"');
    expect(hitsOf(`${requestId} `)).toHaveLength(1);
  });
});

test("a disconnected client is billed for what was sent and the vendor call ends", async () => {
  const abort = new AbortController();
  const prompt = "hang [[reply tokens=1000 frameDelayMs=5]]";
  const response = await fixture.gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: prompt }] },
    headers: { "x-request-id": "hang-up" },
    signal: abort.signal,
  });
  const reader = response.body!.getReader();
  let received = "";
  while (!readEvents(received).text.includes("word9 "))
    received += Buffer.from((await reader.read()).value!).toString();
  const closes = fixture.vendor.hits.filter(({ closedAt }) => closedAt !== null).length;
  abort.abort();
  await fixture.vendor.waitForClose(closes + 1);
  const [row, ...others] = await fixture.gateway.charged("hang-up");
  expect(others).toEqual([]);
  expect(row!.flags.toSorted()).toEqual(["caller_gone", "estimated", "partial"]);
  const delivered = readEvents(received).text.length / 4;
  expect(row!.consumed!.tokens!["output"]).toBeWithin(Math.floor(delivered), Math.ceil(delivered) + 20);
});

const WORDS = "word0 word1 word2 word3 word4 word5 word6 word7 ";

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

type Event = Record<string, unknown> & {
  choices?: { delta?: { content?: string; tool_calls?: { function: { arguments?: string } }[] } }[];
};

/** Reads a stream by the rules of server-sent events, without the tested code. */
function readEvents(body: string): { events: Event[]; text: string; toolArguments: string; isDone: boolean } {
  const frames = body.split(/(?:\r\n|\n|\r(?!\n)){2}/).map((frame) =>
    frame
      .split(/\r\n|\n|\r/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, ""))
      .join("\n"),
  );
  // While a stream runs, its last frame may be incomplete.
  const complete = /(?:\r\n|\n|\r){2}$/.test(body) ? frames : frames.slice(0, -1);
  const data = complete.filter((frame) => frame !== "");
  const isDone = data.at(-1) === "[DONE]";
  const events = (isDone ? data.slice(0, -1) : data).map((frame): Event => JSON.parse(frame));
  const deltas = events.flatMap(({ choices }) => choices?.[0]?.delta ?? []);
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  return {
    events,
    text: deltas.map(({ content }) => content ?? "").join(""),
    toolArguments: calls.map((call) => call.function.arguments ?? "").join(""),
    isDone,
  };
}

function usageOf({ consumed }: LedgerRow): Usage {
  const { input = 0, output = 0 } = consumed?.tokens ?? {};
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
