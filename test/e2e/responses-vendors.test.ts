import Anthropic from "@anthropic-ai/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai-6";
import { openResponsesFixture, RESPONSES_ONLY, type ResponsesFixture } from "../support/responses-gateway.ts";

/* Callers of other protocols with a vendor that supports only the responses protocol. */
let fixture: ResponsesFixture;
let openai: OpenAI;
let anthropic: Anthropic;
const model = RESPONSES_ONLY;

beforeAll(async () => {
  fixture = await openResponsesFixture();
  const { key, url } = fixture.gateway;
  openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
});
afterEach(() => fixture.vendor.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

const sent = (index = 0): ReturnType<typeof JSON.parse> => fixture.vendor.hits[index]!.json();
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("chat", () => {
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: CITY } }];

  test("is answered whole and streamed, and nothing is stored at the vendor", async () => {
    const question = [
      { role: "system" as const, content: "Be brief." },
      { role: "user" as const, content: "Hello?" },
    ];
    const whole = await openai.chat.completions.create({ model, messages: question, max_tokens: 500 });
    expect(whole.choices[0]).toMatchObject({ finish_reason: "stop", message: { role: "assistant" } });
    expect(whole.usage).toMatchObject({
      completion_tokens: 24,
      completion_tokens_details: { reasoning_tokens: 16 },
    });
    expect(sent()).toMatchObject({ instructions: "Be brief.", max_output_tokens: 500, store: false });
    const stream = await openai.chat.completions.create({ model, messages: question, stream: true });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe(whole.choices[0]!.message.content!);
  });

  test("instructions alone are what the user says", async () => {
    const messages = [{ role: "system" as const, content: "Say hello." }];
    const { choices } = await openai.chat.completions.create({ model, messages });
    expect(choices[0]!.finish_reason).toBe("stop");
    expect(sent()).not.toHaveProperty("instructions");
    expect(sent()["input"]).toMatchObject([{ role: "user", content: [{ text: "Say hello." }] }]);
  });

  test("tools are called in a loop", async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
    const first = await openai.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    const call = first.choices[0]!.message.tool_calls![0]!;
    expect(first.choices[0]!.finish_reason).toBe("tool_calls");
    messages.push(first.choices[0]!.message, { role: "tool", tool_call_id: call.id, content: "Calm." });
    const last = await openai.chat.completions.create({ model, messages, tools });
    expect(last.choices[0]!.finish_reason).toBe("stop");
    expect(sent(0)["tools"][0]).toMatchObject({ type: "function", name: "get_weather", strict: false });
  });

  test("an output cap is `length`, and a stop sequence is refused by name", async () => {
    fixture.vendor.next({ tokens: 300 });
    const messages = [{ role: "user" as const, content: "Hello?" }];
    const cut = await openai.chat.completions.create({ model, messages, max_tokens: 3 });
    expect(cut.choices[0]!.finish_reason).toBe("length");
    const refused = await openai.chat.completions
      .create({ model, messages, stop: ["x"] })
      .catch((error) => error);
    expect(refused).toMatchObject({ status: 400, param: "stop" });
  });

  test("events and items of unknown kinds are passed over", async () => {
    const messages = [{ role: "user" as const, content: "Hello?" }];
    for (const stream of [false, true]) {
      fixture.vendor.next("unknown-events");
      if (!stream) {
        const whole = await openai.chat.completions.create({ model, messages });
        expect(whole.choices[0]!.message.content).toStartWith("word0");
      } else {
        const text = openai.chat.completions.stream({ model, messages });
        expect((await text.finalChatCompletion()).choices[0]!.message.content).toStartWith("word0");
      }
    }
  });

  test.each(["json-for-stream", "one-byte", "crlf", "comments", "no-space"] as const)(
    "a stream with %s",
    async (fault) => {
      fixture.vendor.next(fault);
      const stream = openai.chat.completions.stream({
        model,
        messages: [{ role: "user", content: "Hello?" }],
      });
      expect((await stream.finalChatCompletion()).choices[0]!.message.content).toStartWith("word0");
    },
  );
});

describe("messages", () => {
  const tools = [{ name: "get_weather", input_schema: CITY as Anthropic.Tool.InputSchema }];

  test("thinking with its signature goes round through the caller", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 8_192 };
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
    const request = { model, max_tokens: 16_000, tools, thinking };
    const first = await anthropic.messages.stream({ ...request, messages }).finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    const call = first.content.find((block) => block.type === "tool_use")!;
    messages.push(
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "Calm." }] },
    );
    const last = await anthropic.messages.create({ ...request, messages });
    expect(last.stop_reason).toBe("end_turn");
    expect(sent(0)).toMatchObject({
      reasoning: { effort: "medium" },
      include: ["reasoning.encrypted_content"],
    });
    const reasoning = sent(1)["input"].find(({ type }: { type: string }) => type === "reasoning");
    expect(reasoning.encrypted_content).toMatch(/^enc-one-/);
    expect(first.usage.output_tokens).toBe(8 + 16);
  });
});

test("the header of Codex about its tools reaches vendors of the protocol, and no other header does", async () => {
  const name = "x-openai-internal-codex-responses-lite";
  const headers = { [name]: "true", "x-codex-turn-metadata": "{}", "openai-beta": "responses=v1" };
  const call = async (path: string, body: object) => {
    const response = await fixture.gateway.call(path, { body, headers });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return fixture.vendor.hits.at(-1)!.headers;
  };
  for (const stream of [false, true]) {
    const received = await call("/v1/responses", { model, input: "Hello?", stream });
    expect(received).toMatchObject({ [name]: "true" });
    expect(Object.keys(received)).not.toContain("x-codex-turn-metadata");
    expect(Object.keys(received)).not.toContain("openai-beta");
  }
  const messages = [{ role: "user", content: "Hello?" }];
  expect(await call("/v1/chat/completions", { model, messages })).not.toHaveProperty([name]);
});
