import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { openMatrix, type MatrixFixture } from "../support/text-matrix.ts";

/*
 * Tests the unmodified AI SDK and its provider for compatible services with the sandbox and with vendors of every
 * protocol.
 */
let fixture: MatrixFixture;
beforeAll(async () => {
  fixture = await openMatrix();
});
afterEach(() => Object.values(fixture.vendors).forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

const modelOf = (id: string) =>
  createOpenAICompatible({
    name: "gateway",
    apiKey: fixture.gateway.key,
    baseURL: `${fixture.gateway.url}/v1`,
    supportsStructuredOutputs: true,
  })(id);
const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.looseObject({ city: z.string().optional() }),
  execute: ({ city = "Oslo" }) => `Calm in ${city}.`,
});
const MODELS = ["sandbox-chat", "over-chat", "over-messages", "over-native", "over-responses"] as const;

describe.each(MODELS)("on %s", (id) => {
  test("text is generated and streamed, with its usage", async () => {
    const whole = await generateText({ model: modelOf(id), prompt: "Hello?" });
    expect([whole.finishReason, whole.text]).toEqual(["stop", expect.stringMatching(/\w{4}/)]);
    const streamed = streamText({ model: modelOf(id), prompt: "Hello?" });
    expect(await streamed.text).toBe(whole.text);
    expect((await streamed.usage).outputTokens).toBe(whole.usage.outputTokens!);
  });

  test("a tool is called in a loop, whole and streamed", async () => {
    const prompt = "What is the weather?";
    const options = { model: modelOf(id), prompt, tools: { weather }, stopWhen: stepCountIs(3) };
    const { steps, text } = await generateText(options);
    expect(steps).toHaveLength(2);
    expect(steps[0]!.toolResults[0]!.toolName).toBe("weather");
    expect(text.length).toBeGreaterThan(3);
    const streamed = streamText(options);
    expect((await streamed.text).length).toBeGreaterThan(3);
    expect(await streamed.steps).toHaveLength(2);
  });

  test("an object fits its schema, whole and streamed", async () => {
    const answer = () => id === "sandbox-chat" || fixture.vendors[id].next({ text: '{"city":"Oslo"}' });
    const options = { model: modelOf(id), schema: z.object({ city: z.string() }), prompt: "Where?" };
    answer();
    expect((await generateObject(options)).object).toEqual({ city: expect.any(String) });
    answer();
    let last: unknown;
    for await (const each of streamObject(options).partialObjectStream) last = each;
    expect(last).toEqual({ city: expect.any(String) });
  });
});

test("reasoning that a vendor shows comes as reasoning", async () => {
  const { reasoningText, text } = await generateText({
    model: modelOf("over-thinking"),
    prompt: "Say hello.",
  });
  expect([reasoningText, text]).toEqual(["A greeting.", "Hello there."]);
});
