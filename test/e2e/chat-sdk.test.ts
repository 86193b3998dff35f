import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "openai-6";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { until } from "../support/gateway.ts";
import {
  CHAT,
  IMAGE,
  IMAGE_NANOS,
  chatNanos,
  openGatewayFixture,
  type GatewayFixture,
} from "../support/vendor.ts";

/* The unmodified official client, for the built-in sandbox and a simulated vendor. */
let fixture: GatewayFixture;
let client: OpenAI;
const clientOf = (apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${fixture.gateway.url}/v1`, maxRetries: 0 });

beforeAll(async () => {
  fixture = await openGatewayFixture({ extraModels: ["limited"] });
  client = clientOf(fixture.gateway.key);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const WEATHER_TOOL = {
  type: "function" as const,
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** Returns options with a request id, by which the charge is found. */
const marked = (requestId: string) => ({ headers: { "X-Request-Id": requestId } });

describe.each([
  ["the sandbox", "sandbox-chat"],
  ["a vendor", CHAT],
])("on %s", (_, model) => {
  const question = [{ role: "user" as const, content: "What makes a harbour quiet?" }];

  test("a chat response has text, usage, public model and request id", async () => {
    const requestId = `sdk-chat-${model}`;
    const completion = await client.chat.completions.create({ model, messages: question }, marked(requestId));
    expect(completion).toMatchObject({ object: "chat.completion", model });
    expect(completion.choices[0]).toMatchObject({
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant" },
    });
    expect(completion.choices[0]!.message.content!.length).toBeGreaterThan(10);
    expect(completion.usage!.total_tokens).toBe(
      completion.usage!.prompt_tokens + completion.usage!.completion_tokens,
    );
    expect(completion._request_id).toBe(requestId);
    const [row, ...others] = await fixture.gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ kind: "charge", model, flags: [] });
    if (model === CHAT) expect(row!.amount).toBe(chatNanos(completion.usage!));
  });

  test.each([
    ["are absent", undefined],
    ["ask for it", { include_usage: true }],
    ["forbid it", { include_usage: false }],
    ["are null", null],
  ])(
    "a stream ends with exactly one usage chunk when the stream options %s",
    async (options, stream_options) => {
      const requestId = `sdk-stream-${model}-${options.replaceAll(" ", "-")}`;
      const stream = await client.chat.completions.create(
        { model, messages: question, stream: true, stream_options },
        marked(requestId),
      );
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      const reports = chunks.filter(({ usage }) => usage);
      expect(reports).toHaveLength(1);
      expect(chunks.at(-1)).toBe(reports[0]);
      expect(reports[0]!.choices).toEqual([]);
      expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([model]));
      expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      expect(text.length).toBeGreaterThan(10);
      const [row] = await fixture.gateway.charged(requestId);
      expect(row!.flags).toEqual([]);
      if (model === CHAT) expect(row!.amount).toBe(chatNanos(reports[0]!.usage!));
    },
  );

  test("the stream helper assembles a tool call and sends its result", async () => {
    const runner = client.chat.completions.stream({ model, messages: question, tools: [WEATHER_TOOL] });
    const toolCall = (await runner.finalChatCompletion()).choices[0]!;
    expect(toolCall.finish_reason).toBe("tool_calls");
    const call = toolCall.message.tool_calls![0]!;
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } });
    expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) });
    const final = await client.chat.completions
      .stream({
        model,
        tools: [WEATHER_TOOL],
        messages: [
          ...question,
          toolCall.message,
          { role: "tool", tool_call_id: call.id, content: "Calm, 12 °C" },
        ],
      })
      .finalChatCompletion();
    expect(final.choices[0]!.finish_reason).toBe("stop");
    expect(final.choices[0]!.message.content!.length).toBeGreaterThan(0);
    expect((await runner.totalUsage()).completion_tokens).toBeGreaterThan(0);
  });

  test("a complete response can be a tool call", async () => {
    const completion = await client.chat.completions.create({
      model,
      messages: question,
      tools: [WEATHER_TOOL],
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: [{ type: "function", function: { name: "get_weather" } }] },
    });
  });

  test("an output cap ends the response with `length`", async () => {
    const completion = await client.chat.completions.create({ model, messages: question, max_tokens: 3 });
    expect(completion.choices[0]!.finish_reason).toBe("length");
    expect(completion.usage!.completion_tokens).toBe(3);
  });
});

describe.each([
  ["the sandbox", "sandbox-a"],
  ["a vendor", IMAGE],
])("pictures on %s", (_, model) => {
  test("are delivered as links by default, in the reported size", async () => {
    const requestId = `sdk-image-${model}`;
    const completion = await client.images.generate({ model, prompt: "A quiet harbour" }, marked(requestId));
    const [first, ...others] = completion.data!;
    expect(others).toEqual([]);
    expect(Object.keys(first!)).toEqual(["url"]);
    const file = await fetch(first!.url!);
    expect(file.status).toBe(200);
    expect(file.headers.get("content-type")).toBe(`image/${completion.output_format}`);
    const header = await readImageHeader(await file.blob());
    expect(`${header.width}x${header.height}`).toBe(String(completion.size));
    expect(completion._request_id).toBe(requestId);
    const [row] = await fixture.gateway.charged(requestId);
    expect(row).toMatchObject({ model, consumed: { unit: "image", count: 1, tier: "1K" }, flags: [] });
    if (model === IMAGE) expect(row!.amount).toBe(IMAGE_NANOS);
  });

  test("are delivered as base64 on request, in the requested format and number", async () => {
    const { data, response } = await client.images
      .generate({ model, prompt: "Two boats", n: 2, response_format: "b64_json", output_format: "webp" })
      .withResponse();
    expect(response.headers.get("x-gateway-generated-images")).toBe("2");
    expect(response.headers.has("x-image-count-degraded")).toBe(false);
    expect(data.data!.map((entry) => Object.keys(entry))).toEqual([["b64_json"], ["b64_json"]]);
    for (const { b64_json } of data.data!) {
      const header = await readImageHeader(new Blob([Buffer.from(b64_json!, "base64")]));
      expect(header.format).toBe("webp");
    }
  });
});

test("bytes between client and vendor differ only by the model's name and the forced usage", async () => {
  fixture.vendor.reset();
  const text = 'Ünï \u{1F30A} "quotes" \\ / </script> 9007199254740993';
  const body = `{ "messages":[{"role":"user","content":"x","name":"n"}],"seed" : 9007199254740993,"temperature":1.0,"stream":true,"model":"${CHAT}","logit_bias":{"1":-0}}`;
  fixture.vendor.next({ text, frames: 7 });
  const response = await fixture.gateway.call("/v1/chat/completions", { body, method: "POST" });
  const received = await response.text();
  const [hit] = fixture.vendor.hits;
  const sent = hit!.body.toString();
  expect(JSON.parse(sent).stream_options).toEqual({ include_usage: true });
  expect(
    sent.replace(/"stream_options":\{"include_usage":true\},?/, "").replace('"gpt-5.4"', `"${CHAT}"`),
  ).toBe(body);
  const frames = received.trimEnd().split("\n\n");
  expect(frames.at(-1)).toBe("data: [DONE]");
  expect(frames.at(-2)).toContain('"choices":[],"usage":{');
  expect(received.split(`"model":"${CHAT}"`)).toHaveLength(frames.length);
  expect(received).not.toContain("gpt-5.4");
  const content = frames
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice(6)).choices[0]?.delta.content ?? "");
  expect(content.join("")).toBe(text);
});

test("the list of models has every callable model with its facts", async () => {
  const models = [];
  for await (const model of client.models.list()) models.push(model);
  const byId = new Map(models.map((model) => [model.id, model]));
  expect(byId.get(CHAT)).toMatchObject({ object: "model", type: "chat", owned_by: expect.any(String) });
  expect(byId.get(IMAGE)).toMatchObject({ object: "model", type: "image", family: "A" });
  expect(byId.get("sandbox-d-fast")).toMatchObject({ family: "D" });
  expect((await client.models.retrieve(CHAT)).id).toBe(CHAT);
  expect(await failure(client.models.retrieve("nobody"))).toBeInstanceOf(NotFoundError);
});

describe("errors have the client's classes and fields", () => {
  const chat = (model: string, text = "hi", using = client) =>
    failure(using.chat.completions.create({ model, messages: [{ role: "user", content: text }] }));

  test("a missing key is in `type`, an unusable one in `code`", async () => {
    const missing = await failure(
      client.chat.completions.create({ model: CHAT, messages: [] }, { headers: { Authorization: null } }),
    );
    expect(missing).toBeInstanceOf(AuthenticationError);
    expect(missing).toMatchObject({ status: 401, type: "missing_api_key", code: undefined });
    const wrong = await chat(CHAT, "hi", clientOf("gk_nonsense"));
    expect(wrong).toBeInstanceOf(AuthenticationError);
    expect(wrong).toMatchObject({
      status: 401,
      code: "authentication_required",
      type: "authentication_error",
    });
  });

  test("an unknown model, an image model and a wrong field are bad requests with a param", async () => {
    const unknown = await chat("no-such-model");
    expect(unknown).toBeInstanceOf(BadRequestError);
    expect(unknown).toMatchObject({ code: "model_not_available_for_routing", param: "model" });
    expect(unknown.requestID).toBeTruthy();
    expect(await chat(IMAGE)).toMatchObject({ status: 400, code: "wrong_endpoint_for_model" });
    const wrong = await failure(
      client.chat.completions.create({
        model: CHAT,
        messages: [{ role: "user", content: "x" }],
        max_tokens: 0,
      }),
    );
    expect(wrong).toMatchObject({ status: 400, code: "invalid_parameter", param: "max_tokens" });
  });

  test("a rejection or refusal by the vendor is a bad request without its name", async () => {
    const rejected = await chat(CHAT, "[[context-length]]");
    expect(rejected).toBeInstanceOf(BadRequestError);
    expect(rejected.message).toContain("8192");
    const refused = await chat(CHAT, "[[content-refused]]");
    expect(refused).toMatchObject({ status: 400, code: "content_policy_violation" });
    expect(refused.message).not.toMatch(/openai|req_0123/i);
  });

  test("the vendor's limit is a rate limit error with its Retry-After", async () => {
    const limited = await chat("limited", "[[rate-limited retryAfter=7]]");
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(limited.headers!.get("retry-after")).toBe("7");
  });

  test("an error inside a stream is thrown while it is read", async () => {
    const stream = await client.chat.completions.create({
      model: CHAT,
      stream: true,
      messages: [{ role: "user", content: "[[error-frame-later after=3 frameDelayMs=5]]" }],
    });
    const seen: string[] = [];
    const error = await failure(
      (async () => {
        for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content ?? "");
      })(),
    );
    expect(seen.join("")).toContain("word0");
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: "overloaded" });
  });

  test("a model that is not enabled is a permission error", async () => {
    await fixture.gateway.cli("orgs", "disable-model", "default", "sandbox-messages");
    const denied = await until("the change to be seen", async () => {
      const error = await chat("sandbox-messages").catch(() => undefined);
      return error instanceof PermissionDeniedError ? error : undefined;
    });
    expect(denied).toMatchObject({ status: 403, code: "model_not_authorized_for_org" });
  });
});

/** Returns the error of a call. Fails when the call succeeds. */
async function failure(call: PromiseLike<unknown>): Promise<APIError> {
  const error = await Promise.resolve(call).then(
    () => new Error("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof APIError) return error;
  throw error;
}

/**
 * Sends a request without `fetch`, because the tests' `fetch` checks responses by OpenAI's published form. Responses to
 * Mistral's clients do not have this form.
 */
async function postAs(agent: string, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${fixture.gateway.key}`, "user-agent": agent };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(`${fixture.gateway.url}${path}`, { method: "POST", headers }, (response) => {
    response
      .setEncoding("utf8")
      .toArray()
      .then((pieces) => resolve(pieces.join("")), reject);
  });
  sent.on("error", reject).end(JSON.stringify(body));
  return await promise;
}

test.each([
  "speakeasy-sdk/typescript 2.7.0 2.884.13 1.0.0 @mistralai/mistralai",
  "ai-sdk/mistral/2.0.28 runtime/bun",
])("%s gets usage beside the last choice, and an id of embeddings", async (agent) => {
  const body = { model: CHAT, stream: true, messages: [{ role: "user", content: "Hello" }] };
  const chunks = (await postAs(agent, "/v1/chat/completions", body))
    .split("\n\n")
    .filter((each) => each.startsWith("data: {"))
    .map((each) => JSON.parse(each.slice("data: ".length)));
  expect(chunks.map(({ choices }) => choices.length)).not.toContain(0);
  expect(chunks.at(-1).usage.total_tokens).toBeGreaterThan(0);
  const embedded = await postAs(agent, "/v1/embeddings", { model: "sandbox-embedding", input: "a" });
  expect(JSON.parse(embedded)).toMatchObject({ id: expect.stringMatching(/./), object: "list" });
});
