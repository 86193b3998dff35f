import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SIMULATED_KEY } from "../upstreams/openai.ts";
import { until, type LedgerRow } from "../support/gateway.ts";
import {
  CHAT,
  IMAGE,
  IMAGE_NANOS,
  chatNanos,
  openGatewayFixture,
  readError,
  type GatewayFixture,
} from "../support/vendor.ts";

/*
 * Complete responses of a misbehaving vendor: the client's response, the number of vendor calls, and the ledger. Each
 * failure has its own channel, because a failing channel is ejected.
 */
interface Trouble {
  /** Marker in the prompt that selects the vendor's behaviour. */
  marker: string;
  status: number;
  code: string;
  retryAfter?: string;
  message?: RegExp;
}

const LOST = { status: 502, code: "upstream_error" };
const LATE = { status: 504, code: "upstream_timeout" };
const SHUT = { status: 502, code: "upstream_auth_failed" };
const BUSY = { status: 503, code: "overloaded", retryAfter: "1" };
const LIMITED = { status: 429, code: "rate_limit_exceeded" };
const WRONG = { status: 400, code: "invalid_parameter" };

const FAILURES: Trouble[] = [
  { marker: "reset-before-headers", ...LOST },
  { marker: "close-before-headers", ...LOST },
  { marker: "garbage", ...LOST },
  { marker: "html", ...LOST },
  { marker: "empty", ...LOST },
  { marker: "redirect", ...LOST },
  { marker: "gzip-bomb", ...LOST },
  { marker: "flood", ...LOST },
  { marker: "truncated", ...LOST },
  { marker: "reset-midway", ...LOST },
  { marker: "close-midway", ...LOST },
  { marker: "choices-null", ...LOST },
  { marker: "choices-missing", ...LOST },
  { marker: "choices-empty", ...LOST },
  { marker: "stall", ...LATE },
  { marker: "stall-midway", ...LATE },
  { marker: "unauthorized", ...SHUT },
  { marker: "forbidden", ...SHUT },
  { marker: "unknown-model", ...SHUT },
  { marker: "insufficient-quota", ...SHUT },
  { marker: "error-status status=405", ...LOST },
  { marker: "error-status status=500", ...BUSY },
  { marker: "error-status status=502", ...BUSY },
  { marker: "error-status status=503 retryAfter=12", ...BUSY, retryAfter: "12" },
  { marker: "error-status status=529", ...BUSY },
  { marker: "error-in-200", ...BUSY },
  { marker: "rate-limited", ...LIMITED, retryAfter: "12" },
  { marker: "rate-limited retryAfter=30", ...LIMITED, retryAfter: "30" },
  { marker: "rate-limited retryAfter=1000000000", ...LIMITED, retryAfter: "60" },
  { marker: "rate-limited retryAfter=-1", ...LIMITED, retryAfter: "1" },
  { marker: "rate-limited retryAfter=soon", ...LIMITED, retryAfter: "12" },
  { marker: "error-status status=422", ...WRONG },
  { marker: "context-length", ...WRONG, code: "context_length_exceeded", message: /8192 tokens/ },
  { marker: "echo-authorization", ...WRONG },
  { marker: "content-refused", status: 400, code: "content_policy_violation" },
];

/** Complete responses with unusual framing, or with unusable usage. */
const UNUSUAL = [
  { marker: "one-byte", flags: [] },
  { marker: "slow-drip frameDelayMs=1", flags: [] },
  { marker: "gzip", flags: [] },
  { marker: "no-usage", flags: ["estimated"] },
  { marker: "usage-null", flags: ["estimated"] },
  { marker: "usage-strings", flags: ["estimated", "anomalous"] },
  { marker: "usage-negative", flags: ["estimated", "anomalous"] },
  { marker: "usage-huge", flags: ["estimated", "anomalous"] },
  { marker: "usage-float", flags: ["estimated", "anomalous"] },
];

const modelOf = (marker: string) =>
  `lane-${marker
    .replace("=-", " minus ")
    .replaceAll(/[^a-z0-9]+/gi, "-")
    .toLowerCase()}`;
const ID_HEADERS = ["x-gateway-request-id", "x-request-id"];
const SECRET = /openai|gpt-5|simulated|127\.0\.0\.1|req_0123456789abcdef/i;

let fixture: GatewayFixture;
beforeAll(async () => {
  const extraModels = [...FAILURES, ...UNUSUAL].map(({ marker }) => modelOf(marker));
  fixture = await openGatewayFixture({ firstByteMs: 1_500, totalMs: 1_500, extraModels });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const chat = (model: string, prompt: string, requestId: string) =>
  fixture.gateway.call("/v1/chat/completions", {
    body: { model, messages: [{ role: "user", content: prompt }] },
    headers: { "x-request-id": requestId },
  });
const hitsOf = (text: string) => fixture.vendor.hits.filter(({ body }) => body.includes(`"${text}`));

describe("an invalid complete response is a gateway error, and free", () => {
  test.concurrent.each(FAILURES)(
    "$marker is $status $code",
    async (trouble) => {
      const { marker, status, code } = trouble;
      const requestId = `t-${modelOf(marker)}`;
      const response = await chat(modelOf(marker), `${requestId} [[${marker}]]`, requestId);
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      for (const name of ID_HEADERS) expect(response.headers.get(name)).toBe(requestId);
      expect(response.headers.get("retry-after")).toBe(trouble.retryAfter ?? null);
      const error = await readError(response);
      expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
      expect(error["code"]).toBe(code);
      expect(String(error["message"])).not.toMatch(SECRET);
      if (trouble.message) expect(String(error["message"])).toMatch(trouble.message);
      expect(hitsOf(`${requestId} `)).toHaveLength(1);
    },
    10_000,
  );

  test("and has no ledger entry", async () => {
    await chat(CHAT, "the last one", "after-troubles");
    await fixture.gateway.charged("after-troubles");
    const rows = await fixture.gateway.ledger();
    expect(rows.filter(({ request_id }) => request_id.startsWith("t-"))).toEqual([]);
  });

  test("the log has the cause without the vendor's key", async () => {
    const lines = await until("a line for each", () => {
      const found = fixture.gateway.logs().filter((line) => String(line["request_id"]).startsWith("t-"));
      return found.length === FAILURES.length ? found : undefined;
    });
    for (const line of lines) expect(line).toMatchObject({ cause: expect.any(String), attempts: [{}] });
    expect(JSON.stringify(fixture.gateway.logs())).not.toContain(SIMULATED_KEY);
  });
});

describe("an unusual complete response is forwarded and billed", () => {
  test.concurrent.each(UNUSUAL)(
    "$marker is billed with flags $flags",
    async ({ marker, flags }) => {
      const requestId = `o-${modelOf(marker)}`;
      const response = await chat(modelOf(marker), `${requestId} [[${marker}]]`, requestId);
      expect(response.status).toBe(200);
      const reply = (await response.json()) as Reply;
      expect(reply.choices[0]!.message.content).toStartWith("word0 word1");
      expect(reply.model).toBe(modelOf(marker));
      const [row, ...others] = await fixture.gateway.charged(requestId);
      expect(others).toEqual([]);
      expect(row!.flags).toEqual(flags);
      expect(row!.amount).toBe(chatNanos(reply.usage));
      expect(usageOf(row!).completion_tokens).toBeWithin(1, 30);
      expect(usageOf(row!).prompt_tokens).toBeWithin(1, 200);
    },
    10_000,
  );

  test("cached tokens beyond the prompt are clamped and flagged, never negative", async () => {
    fixture.vendor.next({
      usage: {
        prompt_tokens: 10,
        completion_tokens: 4,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 90 },
      },
    });
    expect((await chat(CHAT, "cached", "o-cached")).status).toBe(200);
    const [row] = await fixture.gateway.charged("o-cached");
    expect(row).toMatchObject({
      flags: ["anomalous"],
      consumed: { tokens: { input: 0, cacheRead: 10, output: 4 } },
    });
    expect(row!.amount).toBe(18_000n);
  });

  test("counts above what the request can cause are capped in bill and response", async () => {
    fixture.vendor.next({ usage: { prompt_tokens: 1e12, completion_tokens: 1e12, total_tokens: 2e12 } });
    const response = await fixture.gateway.call("/v1/chat/completions", {
      body: { model: CHAT, max_tokens: 1_000, messages: [{ role: "user", content: "capped" }] },
      headers: { "x-request-id": "o-capped" },
    });
    const { usage } = (await response.json()) as Reply;
    expect(usage.completion_tokens).toBe(1_000);
    expect(usage.prompt_tokens).toBeWithin(4_096, 4_296);
    const [row] = await fixture.gateway.charged("o-capped");
    expect(row!.flags).toEqual(["anomalous"]);
    expect(row!.amount).toBe(chatNanos(usage));
  });

  test("the key goes only to the channel's own address: a redirect is not followed", async () => {
    await using elsewhere = await openListener();
    fixture.vendor.next({ fault: "redirect", text: elsewhere.url });
    expect((await chat(CHAT, "go", "o-redirect")).status).toBe(502);
    expect(elsewhere.requests).toBe(0);
  });
});

describe("pictures", () => {
  const generate = (requestId: string, fields: object = {}) =>
    fixture.gateway.call("/v1/images/generations", {
      body: { model: IMAGE, prompt: requestId, ...fields },
      headers: { "x-request-id": requestId },
    });

  test.each([
    ["no-images", 502, "upstream_error"],
    ["bad-base64", 502, "upstream_error"],
    ["html", 502, "upstream_error"],
    ["truncated", 502, "upstream_error"],
    ["content-refused", 400, "content_policy_violation"],
  ] as const)("%s is %d %s in the image error format, and free", async (fault, status, code) => {
    fixture.vendor.next(fault);
    const requestId = `p-${fault}`;
    const response = await generate(requestId);
    expect(response.status).toBe(status);
    expect(await readError(response)).toEqual({
      code,
      type: status === 400 ? "bad_request" : code,
      message: expect.not.stringMatching(SECRET),
      param: null,
      request_id: requestId,
    });
    expect(hitsOf(requestId)).toHaveLength(1);
  });

  test.each([
    [4, 2, 2, "2/4"],
    [4, 1, 1, "1/4"],
    [2, 4, 2, null],
  ])(
    "requested %d, returned %d: %d are delivered and billed",
    async (requested, given, delivered, degraded) => {
      fixture.vendor.next({ images: given });
      const requestId = `p-${requested}-${given}`;
      const response = await generate(requestId, { n: requested });
      expect(response.status).toBe(200);
      const reply = (await response.json()) as { data: unknown[] };
      expect(reply.data).toHaveLength(delivered);
      expect(response.headers.get("x-gateway-generated-images")).toBe(String(delivered));
      expect(response.headers.get("x-image-count-degraded")).toBe(degraded);
      const [row] = await fixture.gateway.charged(requestId);
      expect(row!.amount).toBe(IMAGE_NANOS * BigInt(delivered));
    },
  );

  test("a response without usage, or with escaped slashes, is a picture", async () => {
    for (const fault of ["no-usage", "escaped-slashes"] as const) {
      fixture.vendor.next(fault);
      const response = await generate(`p-${fault}`, { response_format: "b64_json" });
      expect(response.status).toBe(200);
      const reply = (await response.json()) as { data: { b64_json: string }[]; usage?: object };
      expect(Buffer.from(reply.data[0]!.b64_json, "base64").subarray(1, 4).toString()).toBe("PNG");
      expect(reply.usage === undefined).toBe(fault === "no-usage");
      await fixture.gateway.charged(`p-${fault}`);
    }
  });

  test("failures left no charge", async () => {
    const rows = (await fixture.gateway.ledger()).filter(({ model }) => model === IMAGE);
    expect(rows.map(({ request_id }) => request_id).sort()).toEqual([
      "p-2-4",
      "p-4-1",
      "p-4-2",
      "p-escaped-slashes",
      "p-no-usage",
    ]);
  });
});

interface Reply {
  model: string;
  choices: { message: { content: string } }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}

function usageOf({ consumed }: LedgerRow): Reply["usage"] {
  const { input = 0, output = 0 } = consumed?.tokens ?? {};
  return { prompt_tokens: input, completion_tokens: output };
}

async function openListener(): Promise<{ url: string; readonly requests: number } & AsyncDisposable> {
  let requests = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      requests++;
      return new Response("{}");
    },
  });
  return {
    url: server.url.href,
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
