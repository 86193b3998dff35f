import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, stepCountIs, streamText, tool } from "ai";
import Previous from "anthropic-sdk-0";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  BUDGET,
  CHAT_ONLY,
  CLAUDE,
  messagesNanos,
  openMessagesGateway,
  type MessagesGateway,
} from "../support/messages-gateway.ts";

/* Unmodified official clients of both generations, for the sandbox and simulated vendors. */
let fixture: MessagesGateway;

beforeAll(async () => {
  fixture = await openMessagesGateway();
});
afterEach(() => {
  for (const vendor of [fixture.vendor, fixture.spare, fixture.chat]) vendor.reset();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const TOOL = {
  name: "get_weather",
  description: "Tells the weather",
  input_schema: {
    type: "object" as const,
    properties: { city: { type: "string" } },
    required: ["city"],
  },
};

const generations: [string, () => Anthropic][] = [
  ["1.x", () => new Anthropic({ apiKey: fixture.gateway.key, baseURL: fixture.gateway.url, maxRetries: 1 })],
  [
    "0.137",
    () =>
      // The two generations have equal calls, but different nominal types.
      new Previous({
        apiKey: fixture.gateway.key,
        baseURL: fixture.gateway.url,
        maxRetries: 1,
      }) as unknown as Anthropic,
  ],
];
const models: [string, string][] = [
  ["the sandbox", "sandbox-messages"],
  ["the sandbox's chat model", "sandbox-chat"],
  ["a vendor of messages", CLAUDE],
  ["a vendor of chat completions", CHAT_ONLY],
];
const question = { role: "user" as const, content: "What makes a harbour quiet?" };

describe.each(generations)("the official client %s", (generation, clientOf) => {
  describe.each(models)("on %s", (_, model) => {
    test("gets a message with text, public model, usage and request id, which is billed", async () => {
      const id = `whole-${generation}-${model}`;
      const message = await clientOf().messages.create(
        { model, max_tokens: 200, messages: [question] },
        { headers: { "X-Request-Id": id } },
      );
      expect(message).toMatchObject({ type: "message", role: "assistant", model, stop_reason: "end_turn" });
      expect(message.content).toMatchObject([{ type: "text", text: expect.stringMatching(/\w{3}/) }]);
      expect(message.usage.input_tokens).toBeGreaterThan(0);
      expect(message._request_id).toBe(id);
      const [row, ...others] = await fixture.gateway.charged(id);
      expect(others).toEqual([]);
      expect(row).toMatchObject({ kind: "charge", model, flags: [] });
      if (!model.startsWith("sandbox")) expect(row!.amount).toBe(messagesNanos(message.usage));
    });

    test("streams the same message", async () => {
      const body = { model, max_tokens: 200, messages: [question] };
      const stream = clientOf().messages.stream(body);
      let text = "";
      stream.on("text", (piece) => (text += piece));
      const message = await stream.finalMessage();
      expect(message).toMatchObject({ model, role: "assistant", stop_reason: "end_turn" });
      expect(message.content).toMatchObject([{ type: "text", text }]);
      const whole = await clientOf().messages.create(body);
      expect(whole.content).toMatchObject([{ type: "text", text }]);
      expect(whole.usage.output_tokens).toBe(message.usage.output_tokens);
      if (model.startsWith("sandbox")) expect(message.usage.input_tokens).toBe(whole.usage.input_tokens);
    });

    test("calls a tool and answers from its result", async () => {
      const body = { model, max_tokens: 300, tools: [TOOL] };
      const stream = clientOf().messages.stream({ ...body, messages: [question] });
      const first = await stream.finalMessage();
      expect(first.stop_reason).toBe("tool_use");
      const call = first.content.find((block) => block.type === "tool_use")!;
      expect(call).toMatchObject({ name: "get_weather", input: expect.any(Object) });
      const result = { type: "tool_result" as const, tool_use_id: call.id, content: "Sunny" };
      const answer = await clientOf().messages.create({
        ...body,
        messages: [
          question,
          { role: "assistant", content: first.content },
          { role: "user", content: [result] },
        ],
      });
      expect(answer.stop_reason).toBe("end_turn");
    });
  });

  test("reads errors of every kind with type, status and request id", async () => {
    const client = clientOf();
    const body = { model: CLAUDE, max_tokens: 10, messages: [question] };
    const failure = (change: object) =>
      client.messages.create({ ...body, ...change }).catch((error) => error);
    expect(await failure({ model: "none" })).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(await failure({ model: "sandbox-a" })).toMatchObject({
      status: 400,
      type: "invalid_request_error",
    });
    fixture.vendor.next("context-length");
    const tooLong = await failure({});
    expect(tooLong).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(tooLong.message).toContain("prompt is too long: 213462 tokens > 200000 maximum");
    expect(tooLong.requestID).toMatch(/^req_/);
    const stranger = new Anthropic({ apiKey: "gk_wrong", baseURL: fixture.gateway.url, maxRetries: 0 });
    const refused = await stranger.messages.create(body).catch((error) => error);
    expect(refused).toMatchObject({ status: 401, type: "authentication_error" });
  });

  test("retries what may succeed, and not what cannot", async () => {
    fixture.vendor.next({ fault: "error-status", status: 529 });
    const body = { model: BUDGET, max_tokens: 10, messages: [question] };
    expect((await clientOf().messages.create(body)).role).toBe("assistant");
    fixture.vendor.reset();
    const wrong = clientOf().messages.create({
      ...body,
      max_tokens: 9_999,
      thinking: { type: "adaptive" },
    } as never);
    expect(await wrong.catch((error) => error.status)).toBe(400);
    expect(fixture.vendor.hits).toHaveLength(1);
  });

  test("gets an error event, and no ending, of a stream that fails later", async () => {
    fixture.vendor.next({ fault: "error-frame-later", after: 3, frameDelayMs: 20 });
    const stream = await clientOf().messages.create({
      model: CLAUDE,
      max_tokens: 50,
      stream: true,
      messages: [question],
    });
    const types: string[] = [];
    const failure = await (async () => {
      for await (const event of stream) types.push(event.type);
    })().catch((error) => error);
    expect(failure).toMatchObject({ type: "overloaded_error" });
    expect(types).toContain("content_block_delta");
    expect(types).not.toContain("message_stop");
    expect(failure.message).not.toMatch(/anthropic/i);
  });

  test("thinks with a signature that it gives back", async () => {
    for (const model of [BUDGET, "sandbox-messages"]) {
      const body = {
        model,
        max_tokens: 4_000,
        thinking: { type: "enabled" as const, budget_tokens: 2_000 },
        tools: [TOOL],
      };
      const first = await clientOf()
        .messages.stream({ ...body, messages: [question] })
        .finalMessage();
      const [thought, call] = first.content;
      if (thought?.type !== "thinking") throw new Error("no thinking");
      expect(thought.signature).toMatch(/\w{4}/);
      if (call?.type !== "tool_use") throw new Error("no call");
      const result = { type: "tool_result" as const, tool_use_id: call.id, content: "Sunny" };
      const messages = [
        question,
        { role: "assistant" as const, content: first.content },
        { role: "user" as const, content: [result] },
      ];
      const second = await clientOf().messages.create({ ...body, messages });
      expect(second.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    }
  });

  test("counts tokens: the vendor's number, the sandbox's own usage, or an estimate", async () => {
    const client = clientOf();
    for (const [, model] of models) {
      const { input_tokens: counted } = await client.messages.countTokens({ model, messages: [question] });
      expect(counted).toBeGreaterThan(3);
      if (!model.startsWith("sandbox")) continue;
      const { usage } = await client.messages.create({ model, max_tokens: 50, messages: [question] });
      expect(usage.input_tokens).toBe(counted);
    }
    expect(fixture.vendor.hits.map(({ path }) => path)).toEqual(["/v1/messages/count_tokens"]);
    expect(fixture.chat.hits).toEqual([]);
  });

  test("lists models, to the end", async () => {
    const ids: string[] = [];
    for await (const { id, type } of clientOf().models.list()) {
      expect(type).toBe("model");
      ids.push(id);
    }
    expect(ids).toEqual(expect.arrayContaining([CLAUDE, CHAT_ONLY, "sandbox-messages"]));
    expect(ids).not.toContain("sandbox-a");
    expect(ids).not.toContain("sandbox-embedding");
    expect(await clientOf().models.retrieve(CLAUDE)).toMatchObject({ id: CLAUDE, type: "model" });
    const picture = await Promise.resolve(clientOf().models.retrieve("sandbox-a")).catch(
      (error: unknown) => error,
    );
    expect(picture).toMatchObject({ status: 404 });

    const paged: string[] = [];
    for await (const { id } of clientOf().models.list({ limit: 2 })) paged.push(id);
    expect(paged).toEqual(ids);
    const second = await clientOf().models.list({ limit: 1, after_id: ids[0]! });
    expect(second.data.map(({ id }) => id)).toEqual([ids[1]!]);
    const before = await clientOf().models.list({ limit: 1, before_id: ids[2]! });
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[ids[1]!], true]);
    for (const query of [{ limit: 0 }, { limit: 1_001 }, { after_id: "nobody" }]) {
      const refused = await Promise.resolve(clientOf().models.list(query)).catch((error: unknown) => error);
      expect(refused).toMatchObject({ status: 400 });
    }
  });
});

describe("the AI SDK", () => {
  const provider = () =>
    createAnthropic({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1` });

  test.each(models)("generates and streams on %s", async (_, model) => {
    const whole = await generateText({ model: provider()(model), prompt: question.content });
    expect(whole.text).toMatch(/\w{3}/);
    expect(whole.usage.inputTokens).toBeGreaterThan(0);
    const stream = streamText({ model: provider()(model), prompt: question.content });
    expect(await stream.text).toBe(whole.text);
    expect(await stream.finishReason).toBe("stop");
  });

  test.each(models)("runs a loop of tools on %s", async (_, model) => {
    const cities: string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string().optional() }).loose(),
      execute: async (input) => {
        cities.push(JSON.stringify(input));
        return "Sunny";
      },
    });
    const { steps, text } = await generateText({
      model: provider()(model),
      prompt: question.content,
      tools: { get_weather: weather },
      stopWhen: stepCountIs(3),
    });
    expect(cities).toHaveLength(1);
    expect(steps).toHaveLength(2);
    expect(text).not.toBe("");
  });
});
