import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { newSecret } from "../../src/lib/secret.ts";
import { until, type CallInit } from "../support/gateway.ts";
import {
  BUDGET,
  CHAT_ONLY,
  CLAUDE,
  openMessagesGateway,
  ROUTED,
  type MessagesGateway,
} from "../support/messages-gateway.ts";

/* The documented rules for messages, tested on the bytes that a caller gets. */
const PATH = "/v1/messages";
const MODELS = `  retired-model:
    type: messages
    retired: true
    max_output_tokens: 100
    price: { currency: USD, per_million: { input: "1", output: "1" } }
    route: { targets: [{ channel: vendor, upstream_model: claude-opus-5 }] }
  free-model:
    type: messages
    max_output_tokens: 100
    route: { targets: [{ channel: vendor, upstream_model: claude-opus-5 }] }
`;
const BODY = { model: CLAUDE, max_tokens: 50, messages: [{ role: "user", content: "hi" }] };

let fixture: MessagesGateway;
const keys: Record<string, string> = {};

beforeAll(async () => {
  fixture = await openMessagesGateway(MODELS);
  const made: Record<string, string[]> = {
    images: ["--scope", "ai:image"],
    elsewhere: ["--address", "10.0.0.0/8"],
    narrow: ["--model", "sandbox-chat"],
    slow: ["--limit", "requests_per_minute=2"],
    poor: [],
  };
  for (const [name, args] of Object.entries(made)) {
    const output = await fixture.gateway.cli("keys", "create", "--name", name, ...args, "--json");
    const { secret, key } = JSON.parse(output);
    keys[name] = secret;
    if (name === "poor")
      await fixture.gateway.cli(
        "budgets",
        "create",
        "--key",
        key.id,
        "--amount",
        "0.000001",
        "--period",
        "month",
      );
  }
  await until("the last key to be known", async () => {
    const response = await fixture.gateway.call("/v1/models", {
      headers: { authorization: `Bearer ${keys["poor"]}` },
    });
    return response.status === 200 ? true : undefined;
  });
}, 30_000);
afterEach(() => [fixture.vendor, fixture.spare, fixture.chat].forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

/** Any value of a response. */
type Json = ReturnType<typeof JSON.parse>;

interface Answer {
  status: number;
  headers: Headers;
  json: Record<string, Json>;
}

async function send(body: object = {}, init: CallInit = {}, path = PATH): Promise<Answer> {
  const response = await fixture.gateway.call(path, { body: { ...BODY, ...body }, ...init });
  const { status, headers } = response;
  return { status, headers, json: (await response.json()) as Answer["json"] };
}

/** Sends a call with no other headers than these and a content type. */
async function bare(headers: Record<string, string>, path = PATH): Promise<Answer> {
  const response = await fetch(fixture.gateway.url + path, {
    method: "POST",
    body: JSON.stringify(BODY),
    headers: { "content-type": "application/json", ...headers },
  });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Answer["json"],
  };
}

describe("the key", () => {
  test.each([
    ["as a bearer", () => ({ authorization: `Bearer ${fixture.gateway.key}` })],
    ["in `x-api-key`", () => ({ "x-api-key": fixture.gateway.key })],
    [
      "in both, of which `Authorization` wins",
      () => ({ authorization: `Bearer ${fixture.gateway.key}`, "x-api-key": "gk_no" }),
    ],
  ])("is read %s", async (_, headers) => {
    for (const path of [PATH, `${PATH}?beta=true`]) expect((await bare(headers(), path)).status).toBe(200);
    // This error of the vendor shows that the key was accepted. Counting tokens does not allow a maximum.
    const counted = await bare(headers(), `${PATH}/count_tokens`);
    expect(counted.json["error"].message).toBe("max_tokens: Extra inputs are not permitted");
  });

  test("that is missing or empty is told without a top-level type", async () => {
    const empty: Record<string, string>[] = [{}, { authorization: "Bearer " }, { "x-api-key": "" }];
    for (const headers of empty) {
      const { status, json } = await bare(headers);
      expect(status).toBe(401);
      expect(json).toEqual({ error: { type: "missing_api_key", message: expect.any(String) } });
    }
  });

  test("of another address is told in the same way", async () => {
    const { status, json } = await bare({ "x-api-key": keys["elsewhere"]! });
    expect(status).toBe(403);
    expect(json).toEqual({ error: { type: "ip_not_allowed", message: expect.any(String) } });
  });

  test.each([
    ["an unknown one", () => ({ "x-api-key": newSecret() })],
    [
      "a wrong one in `Authorization` beside a right one",
      () => ({ authorization: "Bearer gk_no", "x-api-key": fixture.gateway.key }),
    ],
    ["one without chat access", () => ({ "x-api-key": keys["images"]! })],
  ])("%s is an authentication error", async (_, headers) => {
    const { status, headers: received, json } = await bare(headers());
    expect(status).toBe(401);
    const request_id = received.get("request-id");
    expect(json).toEqual({
      type: "error",
      error: { type: "authentication_error", message: expect.any(String) },
      request_id,
    });
  });
});

describe("an error", () => {
  const rows: [string, number, string, object, CallInit?][] = [
    ["a missing model", 400, "invalid_request_error", { model: undefined }],
    ["a missing maximum", 400, "invalid_request_error", { max_tokens: undefined }],
    ["an unknown model", 400, "invalid_request_error", { model: "none" }],
    ["a retired model", 400, "invalid_request_error", { model: "retired-model" }],
    ["an image model", 400, "invalid_request_error", { model: "sandbox-a" }],
    ["a provider in the body", 400, "invalid_request_error", { provider: "a" }],
    ["a provider in a header", 400, "invalid_request_error", {}, { headers: { "x-provider": "a" } }],
    [
      "a feature that is not offered",
      400,
      "invalid_request_error",
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    ],
    ["a model without a price", 402, "invalid_request_error", { model: "free-model" }],
    ["another content type", 415, "invalid_request_error", {}, { headers: { "content-type": "text/plain" } }],
  ];
  test.each(rows.map(([name, status, type, body, init = {}]) => [name, status, type, body, init] as const))(
    "of %s is %i %s",
    async (_, status, type, body, init) => {
      const answer = await send(body, init);
      expect(answer.status).toBe(status);
      const request_id = answer.headers.get("request-id");
      expect(answer.json).toEqual({
        type: "error",
        error: { type, message: expect.any(String) },
        request_id,
      });
      expect(fixture.vendor.hits).toEqual([]);
    },
  );

  test("of a model that the key may not call is a permission error", async () => {
    const { status, json } = await bare({ "x-api-key": keys["narrow"]! });
    expect([status, json["error"].type]).toEqual([403, "permission_error"]);
  });

  test("of a provider in the query is a refusal, and any other query is ignored", async () => {
    expect((await send({}, {}, `${PATH}?provider=a`)).status).toBe(400);
    expect((await send({}, {}, `${PATH}?beta=true&x=1`)).status).toBe(200);
  });

  test("of another method has the same shape", async () => {
    const response = await fixture.gateway.call(PATH, { method: "GET" });
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });

  test("of too many requests tells the wait and the state of the limit", async () => {
    const headers = { "x-api-key": keys["slow"]! };
    const first = await bare(headers);
    expect(first.headers.get("anthropic-ratelimit-requests-limit")).toBe("2");
    expect(first.headers.get("anthropic-ratelimit-requests-remaining")).toBe("1");
    expect(first.headers.get("anthropic-ratelimit-requests-reset")).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z$/);
    await bare(headers);
    const refused = await bare(headers);
    expect([refused.status, refused.json["error"].type]).toEqual([429, "rate_limit_error"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("anthropic-ratelimit-requests-remaining")).toBe("0");
    expect(refused.headers.has("x-ratelimit-limit-requests")).toBe(false);
  });

  test("of a spent budget is a rate limit that no retry lifts", async () => {
    const refused = await until("the budget to be known", async () => {
      const answer = await bare({ "x-api-key": keys["poor"]! });
      return answer.status === 200 ? undefined : answer;
    });
    expect([refused.status, refused.json["error"].type]).toEqual([429, "rate_limit_error"]);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(refused.headers.has("retry-after")).toBe(false);
  });
});

describe("a response", () => {
  test("carries its request id under every name", async () => {
    const { headers } = await send({}, { headers: { "x-request-id": "mine-1" } });
    for (const name of ["x-gateway-request-id", "request-id", "x-request-id"])
      expect(headers.get(name)).toBe("mine-1");
  });

  test.each([
    ["end_turn", {}, null],
    ["max_tokens", { max_tokens: 3 }, null],
    ["stop_sequence", { stop_sequences: ["word2"] }, "word2"],
    ["tool_use", { tools: [{ name: "f", input_schema: { type: "object" } }] }, null],
  ])("ends with %s", async (reason, body, sequence) => {
    const { json } = await send(body);
    expect([json["stop_reason"], json["stop_sequence"]]).toEqual([reason, sequence]);
    expect(json).toMatchObject({ type: "message", role: "assistant", model: CLAUDE });
  });

  test.each([
    ["end_turn", { max_tokens: 500 }],
    ["max_tokens", { max_tokens: 3 }],
    ["stop_sequence", { stop_sequences: ["harbour"], messages: [{ role: "user", content: "a harbour" }] }],
    ["tool_use", { tools: [{ name: "f", input_schema: { type: "object" } }], tool_choice: { type: "any" } }],
  ])("of the sandbox ends with %s", async (reason, body) => {
    const { json } = await send({ ...body, model: "sandbox-messages" });
    expect(json["stop_reason"]).toBe(reason);
  });

  test("keeps blocks of kinds that the gateway does not know", async () => {
    fixture.vendor.next("unknown-kinds", "unknown-kinds");
    expect((await send()).json["content"][0]).toEqual({ type: "hologram", beam: { width: 3 } });
    const stream = await fixture.gateway.call(PATH, { body: { ...BODY, stream: true } });
    const text = await stream.text();
    expect(text).toContain('event: progress_note\ndata: {"type":"progress_note","index":0}');
    expect(text).toContain('"content_block":{"type":"hologram","beam":{"width":3}}');
  });

  test("of the same key and body is stored, and no second one is billed", async () => {
    const init = { headers: { "idempotency-key": "once" } };
    const first = await send({}, init);
    const second = await send({}, init);
    expect(second.json).toEqual(first.json);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(fixture.vendor.hits).toHaveLength(1);
  });

  test("comes from the next vendor of its route where the first fails before any content", async () => {
    fixture.vendor.next("error-frame-first");
    const stream = await fixture.gateway.call(PATH, { body: { ...BODY, model: ROUTED, stream: true } });
    expect(await stream.text()).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n');
    expect([fixture.vendor.hits.length, fixture.spare.hits.length]).toEqual([1, 1]);
  });
});

describe("a vendor of chat completions", () => {
  test("gets the conversation in its own words", async () => {
    await send({
      model: CHAT_ONLY,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm", signature: "s" },
            { type: "tool_use", id: "toolu_1", name: "look", input: { n: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "A boat" }] },
      ],
      tools: [{ name: "look", description: "Looks", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      stop_sequences: ["END"],
      metadata: { user_id: "u1" },
      temperature: 0.5,
    });
    expect(fixture.chat.hits[0]!.json()).toMatchObject({
      messages: [
        { role: "system" },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          ],
        },
        {
          role: "assistant",
          tool_calls: [{ id: "toolu_1", type: "function", function: { name: "look", arguments: '{"n":1}' } }],
        },
        { role: "tool", tool_call_id: "toolu_1", content: "A boat" },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Looks" } }],
      tool_choice: "required",
      parallel_tool_calls: false,
      temperature: 0.5,
    });
  });

  test("is not called for what it cannot be told, and the error names the field", async () => {
    const { status, json } = await send({
      model: CHAT_ONLY,
      tools: [{ type: "bash_20250124", name: "bash" }],
    });
    expect([status, json["error"].type]).toEqual([400, "invalid_request_error"]);
    expect(json["error"].message).toContain("`tools[0].type`");
    expect(fixture.chat.hits).toEqual([]);
  });
});

describe("counting", () => {
  test("is free, and needs no price", async () => {
    const init = { headers: { "x-request-id": "count-1" } };
    const { status, json } = await send(
      { max_tokens: undefined, model: "free-model" },
      init,
      `${PATH}/count_tokens`,
    );
    expect(status).toBe(200);
    expect(json).toEqual({ input_tokens: expect.any(Number) });
    expect(fixture.vendor.hits[0]!.json()["model"]).toBe("claude-opus-5");
    expect((await fixture.gateway.ledger()).filter((row) => row.request_id === "count-1")).toEqual([]);
  });

  test("refuses what the request itself would be refused for", async () => {
    for (const body of [{ model: "none" }, { provider: "a" }, { messages: [] }, { model: "sandbox-a" }])
      expect((await send(body, {}, `${PATH}/count_tokens`)).status).toBe(400);
  });
});

test("models say where they can be called, and have the protocol's shape for its clients", async () => {
  const one = await (await fixture.gateway.call(`/v1/models/${CLAUDE}`)).json();
  expect(one).toMatchObject({
    type: "messages",
    endpoints: expect.arrayContaining([PATH, "/v1/chat/completions"]),
  });
  const headers = { "anthropic-version": "2023-06-01", "x-api-key": fixture.gateway.key };
  const list = await fetch(`${fixture.gateway.url}/v1/models?limit=1000`, { headers });
  expect(await list.json()).toMatchObject({
    has_more: false,
    first_id: expect.any(String),
    last_id: expect.any(String),
  });
});

test("a value of `anthropic-beta` that no account knows is named, and nothing is left out in silence", async () => {
  const { status, json } = await send({}, { headers: { "anthropic-beta": "unknown-feature-2026-01-01, b" } });
  expect([status, json["error"].type]).toEqual([400, "invalid_request_error"]);
  expect(json["error"].message).toStartWith(
    "Leave `unknown-feature-2026-01-01` out of the header `anthropic-beta`",
  );
});

// This test is last, because it ejects the vendor.
test("an error of the vendor's account is neither the caller's nor told in the vendor's words", async () => {
  fixture.vendor.respondBy(() => ({ fault: "insufficient-quota" }));
  const { status, json } = await send({ model: BUDGET });
  fixture.vendor.respondBy(() => undefined);
  expect([status, json["error"].type]).toEqual([502, "api_error"]);
  expect(json["error"].message).not.toMatch(/credit|balance|billing|anthropic/i);
});
