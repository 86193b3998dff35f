import type { ToolCallLLM } from "@llamaindex/core/llms";
import { tool } from "@llamaindex/core/tools";
import { openai, openaiResponses } from "@llamaindex/openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { openMatrix, type MatrixFixture } from "../support/text-matrix.ts";

/* Tests unmodified LlamaIndex and its provider for OpenAI with the sandbox and with vendors of every protocol. */
let fixture: MatrixFixture;
beforeAll(async () => {
  fixture = await openMatrix();
});
afterEach(() => Object.values(fixture.vendors).forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

const PROVIDERS: Record<string, (init: object) => ToolCallLLM> = {
  chat: openai,
  responses: openaiResponses,
};
const MODELS = ["sandbox-chat", "over-chat", "over-messages", "over-native", "over-responses"];
const question = [{ role: "user" as const, content: "What makes a harbour quiet?" }];
const weather = tool({
  name: "get_weather",
  description: "Tells the weather.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `Calm in ${city}.`,
});

describe.each(Object.entries(PROVIDERS))("over %s", (name, provider) => {
  const modelOf = (model: string) =>
    provider({
      model,
      apiKey: fixture.gateway.key,
      baseURL: `${fixture.gateway.url}/v1`,
    });

  test.each(MODELS)("%s chats, whole and streamed", async (id) => {
    const { message } = await modelOf(id).chat({ messages: question });
    const text = textOf(message.content);
    expect(text.length).toBeGreaterThan(10);
    let streamed = "";
    for await (const { delta } of await modelOf(id).chat({ messages: question, stream: true }))
      streamed += delta;
    // For responses, LlamaIndex repeats the last piece at each event without text.
    expect(streamed).toStartWith(text);
    if (name === "chat") expect(streamed).toBe(text);
  });

  test.each(MODELS)("%s calls a tool and answers from its result", async (id) => {
    const llm = modelOf(id);
    const { message } = await llm.chat({ messages: question, tools: [weather] });
    const calls = (message.options as { toolCall?: { id: string; name: string }[] }).toolCall!;
    expect(calls).toMatchObject([{ name: "get_weather" }]);
    const result = { result: "Calm.", isError: false, id: calls[0]!.id };
    const messages = [
      ...question,
      message,
      { role: "user" as const, content: "Calm.", options: { toolResult: result } },
    ];
    const answer = await llm.chat({ messages, tools: [weather] });
    expect(textOf(answer.message.content).length).toBeGreaterThan(3);
    let last: unknown;
    for await (const { options } of await llm.chat({ messages: question, tools: [weather], stream: true }))
      last = (options as { toolCall?: unknown[] } | undefined)?.toolCall ?? last;
    expect(last).toMatchObject([{ name: "get_weather" }]);
  });
});

test("its default temperature is left out for a model that has none", async () => {
  const llm = openai({
    model: "over-messages",
    apiKey: fixture.gateway.key,
    baseURL: `${fixture.gateway.url}/v1`,
  });
  await llm.chat({ messages: question });
  expect(fixture.vendors["over-messages"].hits.at(-1)!.json()).not.toHaveProperty("temperature");
});

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("");
}
