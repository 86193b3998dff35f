import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai-6";
import { BUDGET, CLAUDE, openMessagesGateway, type MessagesGateway } from "../support/messages-gateway.ts";
import { signatureOf } from "../upstreams/anthropic/signatures.ts";

/* The official client with chat completions and responses, for a strict vendor of messages. */
let fixture: MessagesGateway;
let client: OpenAI;

beforeAll(async () => {
  fixture = await openMessagesGateway();
  client = new OpenAI({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1`, maxRetries: 0 });
});
afterEach(() => fixture.vendor.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

const TOOLS = ["look_up", "write_down"].map((name) => ({
  type: "function" as const,
  function: {
    name,
    description: "Does it",
    parameters: { type: "object", properties: { id: { type: "integer" } } },
  },
}));
const question = { role: "user" as const, content: "What makes a harbour quiet?" };
const sent = (index = 0) => fixture.vendor.hits.at(index)!.json();

describe.each([CLAUDE, BUDGET])("chat completions on %s", (model) => {
  test("get text, whole and streamed, with the usage that is billed", async () => {
    const whole = await client.chat.completions.create({ model, messages: [question] });
    expect(whole.choices[0]).toMatchObject({ finish_reason: "stop", message: { role: "assistant" } });
    expect(whole.model).toBe(model);
    const stream = client.chat.completions.stream({
      model,
      messages: [question],
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect(streamed.usage!.completion_tokens).toBe(whole.usage!.completion_tokens);
    expect(sent()["max_tokens"]).toBe(60_000);
  });

  test.each([false, true])("run a loop of parallel tools (streamed: %p)", async (isStream) => {
    const body = { model, tools: TOOLS, messages: [question] };
    const first = isStream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const [choice] = first.choices;
    const calls = choice!.message.tool_calls!;
    expect(choice!.finish_reason).toBe("tool_calls");
    expect(calls.map((call) => call.type === "function" && call.function)).toEqual(
      TOOLS.map(({ function: { name } }) => expect.objectContaining({ name })),
    );
    const [call] = calls;
    if (call?.type !== "function") throw new Error("no function");
    expect(call.function.arguments).toBe('{"id": 12345678901234567890, "n": 1.0}');
    const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "Done" }));
    const answer = await client.chat.completions.create({
      ...body,
      messages: [
        { role: "system", content: "Be brief." },
        question,
        choice!.message,
        ...results,
        { role: "developer", content: "Now answer." },
      ],
    });
    expect(answer.choices[0]!.finish_reason).toBe("stop");
    const { messages, system } = sent(-1) as {
      messages: { role: string; content: { type: string }[] }[];
      system: unknown;
    };
    expect(system).toEqual([{ type: "text", text: "Be brief." }]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[2]!.content.map(({ type }) => type)).toEqual(["tool_result", "tool_result", "text"]);
    expect(fixture.vendor.hits.at(-1)!.body.toString()).toContain(
      '"input":{"id": 12345678901234567890, "n": 1.0}',
    );
  });

  test.each([false, true])("get their own thinking back in such a loop (streamed: %p)", async (isStream) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [question];
    const ask = async () => {
      const body = { model, tools: TOOLS, messages, max_tokens: 4_000, reasoning_effort: "high" as const };
      const { choices } = isStream
        ? await client.chat.completions.stream(body).finalChatCompletion()
        : await client.chat.completions.create(body);
      messages.push(choices[0]!.message);
      return choices[0]!;
    };
    const { message } = await ask();
    for (const { id } of message.tool_calls!)
      messages.push({ role: "tool", tool_call_id: id, content: "Done" });
    expect((await ask()).finish_reason).toBe("stop");
    const { thinking, messages: told } = sent(-1) as { thinking: object; messages: { content: object[] }[] };
    expect(thinking).toMatchObject({ type: model === BUDGET ? "enabled" : "adaptive" });
    expect(told[1]!.content[0]).toEqual({
      type: "thinking",
      thinking: expect.stringMatching(/\w/),
      signature: expect.stringMatching(/\w/),
    });
  });

  test("have ids of calls from elsewhere made legal, the same for call and result", async () => {
    await client.chat.completions.create({
      model,
      messages: [
        question,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "functions.look:0", type: "function", function: { name: "look", arguments: "" } },
          ],
        },
        { role: "tool", tool_call_id: "functions.look:0", content: "Done" },
      ],
    });
    const text = fixture.vendor.hits[0]!.body.toString();
    const [id] = /"id":"(\w+)"/.exec(text)!.slice(1);
    expect(text).toContain(`"tool_use_id":"${id}"`);
    expect(text).toContain('"input":{}');
  });

  test("reason as the model can be told", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: [question],
      reasoning_effort: "medium",
    });
    const { thinking, output_config } = sent();
    if (model === BUDGET) expect(thinking).toEqual({ type: "enabled", budget_tokens: 8_192 });
    else expect([thinking, output_config]).toEqual([{ type: "adaptive" }, { effort: "medium" }]);
    expect(answer.choices[0]!.message).toMatchObject({ reasoning_content: "Let me think about this." });
  });

  test("get a schema to their answers, and the rest of their fields", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    await client.chat.completions.create({
      model,
      messages: [question],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } },
      max_completion_tokens: 500,
      stop: ["END"],
      safety_identifier: "user-1",
    });
    expect(sent()).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
      max_tokens: 500,
      stop_sequences: ["END"],
      metadata: { user_id: "user-1" },
    });
  });

  test.each<[string, object]>([
    ["n", { n: 2 }],
    ["logit_bias", { logit_bias: { "1": 1 } }],
    ["stop", { stop: "\n" }],
  ])("are refused %s by name, and nothing is sent", async (param, change) => {
    const error = await client.chat.completions
      .create({ model, messages: [question], ...change })
      .then(() => null)
      .catch((error) => error);
    expect(error).toMatchObject({ status: 400, param });
    expect(fixture.vendor.hits).toEqual([]);
  });
});

test("thinking with its signature survives a caller of chat completions", async () => {
  const body = { model: BUDGET, tools: TOOLS, reasoning_effort: "medium" as const };
  const first = await client.chat.completions.create({ ...body, messages: [question] });
  const { message } = first.choices[0]!;
  const results = message.tool_calls!.map(({ id }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: "Done",
  }));
  await client.chat.completions.create({ ...body, messages: [question, message, ...results] });
  const [, answer] = sent(-1)["messages"] as { content: object[] }[];
  const thinking = "Let me think about this.";
  expect(answer!.content[0]).toEqual({ type: "thinking", thinking, signature: signatureOf(thinking) });
});

test("a call without its thinking is answered without thinking", async () => {
  const body = { model: BUDGET, tools: TOOLS, reasoning_effort: "medium" as const };
  const { choices } = await client.chat.completions.create({ ...body, messages: [question] });
  const { role, tool_calls, content } = choices[0]!.message;
  const results = tool_calls!.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "Done" }));
  const bare = { role, tool_calls, content };
  const answer = await client.chat.completions.create({ ...body, messages: [question, bare, ...results] });
  expect(answer.choices[0]!.finish_reason).toBe("stop");
  expect(sent(-1)["thinking"]).toBeUndefined();
});

describe("responses", () => {
  test.each([false, true])("get text and calls (streamed: %p)", async (isStream) => {
    const body = {
      model: CLAUDE,
      input: "What makes a harbour quiet?",
      tools: [{ type: "function" as const, name: "look_up", parameters: { type: "object" }, strict: false }],
    };
    const response = isStream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const call = response.output.find(({ type }) => type === "function_call");
    expect(call).toMatchObject({ name: "look_up", arguments: '{"id": 12345678901234567890, "n": 1.0}' });
    expect(response.usage!.input_tokens).toBeGreaterThan(10);
  });
});
