import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import {
  NATIVE,
  openResponsesFixture,
  OVER_CHAT,
  OVER_MESSAGES,
  OVER_NATIVE,
  type ResponsesFixture,
} from "../support/responses-gateway.ts";

/* The AI SDK with the default model of OpenAI's provider, which uses the responses protocol. */
let fixture: ResponsesFixture;
beforeAll(async () => {
  fixture = await openResponsesFixture();
});
afterEach(() => {
  for (const each of [fixture.vendor, fixture.messages]) each.reset();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const modelOf = (id: string) =>
  createOpenAI({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1` })(id);
/** Without a store, the client sends items instead of references to them. */
const providerOptions = { openai: { store: false } };
const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.looseObject({ city: z.string().optional() }),
  execute: ({ city = "Oslo" }) => `Calm in ${city}.`,
});

describe.each([NATIVE, OVER_CHAT, OVER_MESSAGES, OVER_NATIVE])("on %s", (id) => {
  test("text is generated and streamed, with its usage", async () => {
    const { text, usage, finishReason } = await generateText({ model: modelOf(id), prompt: "Hello?" });
    expect(text.length).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(finishReason).toBe("stop");
    const streamed = streamText({ model: modelOf(id), prompt: "Hello?" });
    expect((await streamed.text).length).toBeGreaterThan(0);
    expect(await streamed.finishReason).toBe("stop");
  });

  test("a tool is called in a loop, whole and streamed", async () => {
    const options = {
      model: modelOf(id),
      prompt: "What is the weather?",
      tools: { weather },
      stopWhen: stepCountIs(3),
      providerOptions,
    };
    const { steps, text } = await generateText(options);
    expect(steps[0]!.toolResults.length).toBeGreaterThan(0);
    expect(text.length).toBeGreaterThan(0);
    const streamed = streamText(options);
    expect((await streamed.text).length).toBeGreaterThan(0);
    expect((await streamed.steps).length).toBe(2);
  });
});

test.each([NATIVE, OVER_CHAT])("a structured answer fits its schema on %s", async (id) => {
  fixture.vendor.next({ text: '{"city":"Oslo","degrees":7}' });
  const schema = z.object({ city: z.string(), degrees: z.number() });
  const { object } = await generateObject({ model: modelOf(id), schema, prompt: "Where?" });
  expect(object).toEqual({ city: "Oslo", degrees: 7 });
});

test("references to stored items are refused with advice", async () => {
  const messages = [
    { role: "user" as const, content: "Hello?" },
    {
      role: "assistant" as const,
      content: [{ type: "text" as const, text: "Hi.", providerOptions: { openai: { itemId: "msg_1" } } }],
    },
    { role: "user" as const, content: "And?" },
  ];
  const error = await generateText({ model: modelOf(NATIVE), messages }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining("`store` to false") });
});
