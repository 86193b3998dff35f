import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from "@openai/agents";
import { generateText, Output, stepCountIs, streamText, tool } from "ai-7";
import { createAnthropic } from "ai-sdk-anthropic-4";
import { createGoogleGenerativeAI } from "ai-sdk-google-4";
import { createOpenAI } from "ai-sdk-openai-4";
import { createOpenAICompatible } from "ai-sdk-openai-compatible-3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { openMatrix, type MatrixFixture, type VendorName } from "../support/text-matrix.ts";

/*
 * The current generation of the AI SDK and of OpenAI's agents library, unmodified. Each client is tested with a vendor
 * of another protocol, and most with a vendor of their own.
 */
let fixture: MatrixFixture;
beforeAll(async () => {
  setTracingDisabled(true);
  fixture = await openMatrix();
});
afterEach(() => Object.values(fixture.vendors).forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

const v1 = () => ({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1` });
const COMPATIBLE = { name: "gateway", supportsStructuredOutputs: true };
/** Without a store, the client sends items instead of references to them. */
const providerOptions = { openai: { store: false } };

const PROVIDERS = {
  "openai-compatible": (id: string) => createOpenAICompatible({ ...COMPATIBLE, ...v1() })(id),
  "openai over chat": (id: string) => createOpenAI(v1()).chat(id),
  "openai over responses": (id: string) => createOpenAI(v1())(id),
  anthropic: (id: string) => createAnthropic(v1())(id),
  google: (id: string) => createGoogleGenerativeAI({ ...v1(), baseURL: `${fixture.gateway.url}/v1beta` })(id),
};

/** Each provider with a vendor of another protocol, and most with a vendor of their own. */
const PAIRS = [
  ["openai-compatible", "over-chat"],
  ["openai-compatible", "over-messages"],
  ["openai over chat", "over-native"],
  ["openai over responses", "over-responses"],
  ["openai over responses", "over-messages"],
  ["anthropic", "over-messages"],
  ["anthropic", "over-chat"],
  ["google", "over-native"],
  ["google", "over-responses"],
] as const satisfies readonly (readonly [keyof typeof PROVIDERS, VendorName])[];

const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.looseObject({ city: z.string().optional() }),
  execute: ({ city = "Oslo" }) => `Calm in ${city}.`,
});

describe.each(PAIRS)("the AI SDK's provider %s, %s,", (name, id) => {
  const options = () => ({ model: PROVIDERS[name](id), maxOutputTokens: 2_000, providerOptions });

  test("generates and streams the same text, with the same usage", async () => {
    const whole = await generateText({ ...options(), prompt: "Hello?" });
    expect([whole.finishReason, whole.text]).toEqual(["stop", expect.stringMatching(/\w{4}/)]);
    expect(whole.usage.inputTokens).toBeGreaterThan(0);
    const streamed = streamText({ ...options(), prompt: "Hello?" });
    expect(await streamed.text).toBe(whole.text);
    expect((await streamed.usage).outputTokens).toBe(whole.usage.outputTokens!);
    expect(await streamed.finishReason).toBe("stop");
  });

  test("calls a tool in a loop, whole and streamed", async () => {
    const loop = { ...options(), prompt: "The weather?", tools: { weather }, stopWhen: stepCountIs(3) };
    const { steps, text } = await generateText(loop);
    expect(steps).toHaveLength(2);
    expect(steps[0]!.toolResults.map(({ output }) => output)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Calm in /)]),
    );
    expect(text.length).toBeGreaterThan(3);
    const streamed = streamText(loop);
    expect((await streamed.text).length).toBeGreaterThan(3);
    expect(await streamed.steps).toHaveLength(2);
  });

  test("gets an object that fits its schema", async () => {
    fixture.vendors[id].next({ text: '{"city":"Oslo"}' });
    // The simulated vendor of messages sends fixed arguments for the tool that represents a schema.
    const output = Output.object({ schema: z.looseObject({ city: z.string().optional() }) });
    const reply = await generateText({ ...options(), prompt: "Where?", output });
    expect(reply.output.city ?? "Oslo").toBe("Oslo");
  });

  test("does not repeat what no retry can lift", async () => {
    const model = PROVIDERS[name]("no-such-model");
    const error = await generateText({ model, prompt: "Hello?" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
  });

  test("tells of an error inside a stream", async () => {
    fixture.vendors[id].next({
      fault: "truncated",
      after: id === "over-responses" ? 8 : 4,
      frameDelayMs: 20,
    });
    const errors: unknown[] = [];
    const stream = streamText({
      ...options(),
      prompt: "Hello?",
      onError: ({ error }) => void errors.push(error),
    });
    await stream.consumeStream();
    expect(errors.length).toBeGreaterThan(0);
  });
});

test("the AI SDK asks again after a passing failure", async () => {
  const { "over-chat": vendor } = fixture.vendors;
  vendor.next({ fault: "error-status", status: 503 });
  const model = PROVIDERS["openai-compatible"]("over-chat");
  expect((await generateText({ model, prompt: "Hello?" })).text).toMatch(/\w{4}/);
  expect(vendor.hits.map(({ status }) => status)).toEqual([503, 200]);
});

describe.each([true, false])("OpenAI's agents, with responses %p,", (useResponses) => {
  const look = () => {
    const cities: string[] = [];
    const get_weather = agentTool({
      name: "get_weather",
      description: "Tells the weather.",
      strict: false,
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: [],
        additionalProperties: true,
      },
      execute: (input) => {
        cities.push(JSON.stringify(input));
        return "Calm.";
      },
    });
    return { cities, tools: [get_weather] };
  };
  const runner = () => new Runner({ modelProvider: new OpenAIProvider({ ...v1(), useResponses }) });
  const models = ["over-chat", "over-responses", "over-messages", "over-native"] as const;

  test.each(models)("run a tool in a loop on %s, whole and streamed", async (model) => {
    const { cities, tools } = look();
    const agent = new Agent({
      name: "Pilot",
      instructions: "Be brief.",
      model,
      tools,
    });
    const whole = await runner().run(agent, "The weather?");
    expect(String(whole.finalOutput).length).toBeGreaterThan(3);
    const called = cities.length;
    expect(called).toBeGreaterThan(0);
    const streamed = await runner().run(agent, "The weather?", { stream: true });
    let text = "";
    for await (const piece of streamed.toTextStream()) text += piece;
    await streamed.completed;
    expect(text.length).toBeGreaterThan(3);
    expect(cities).toHaveLength(2 * called);
    expect(streamed.state.usage.outputTokens).toBeGreaterThan(0);
  });

  test("hand over to another agent", async () => {
    const model = "over-chat";
    const expert = new Agent({ name: "Expert", model });
    const desk = Agent.create({ name: "Desk", model, handoffs: [expert] });
    const { lastAgent, finalOutput } = await runner().run(desk, "Who knows?");
    expect([lastAgent?.name, String(finalOutput)]).toEqual(["Expert", expect.stringMatching(/\w{4}/)]);
  });

  test("tell of an error", async () => {
    const agent = new Agent({ name: "Pilot", model: "no-such-model" });
    const error = await runner()
      .run(agent, "Hello?")
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, code: "model_not_available_for_routing" });
  });
});
