import { createGoogleGenerativeAI } from "@ai-sdk/google";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI, { BadRequestError } from "openai-6";
import { z } from "zod";
import { BUDGET, LEVEL, openNativeText, type NativeTextFixture } from "../support/native-text.ts";
import { makePng } from "../support/pictures.ts";

/* Unmodified clients of every protocol with a simulated vendor of the native protocol. */
let fixture: NativeTextFixture;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  fixture = await openNativeText();
  const { key, url } = fixture.gateway;
  openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.vendor.reset());

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const sent = () => fixture.vendor.hits.map((hit) => hit.json());
const contentsOf = (index: number) =>
  sent()[index]!["contents"] as { role: string; parts: Record<string, unknown>[] }[];

describe("the AI SDK's Google provider", () => {
  const model = (id: string) =>
    createGoogleGenerativeAI({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1beta` })(id);

  test.each([LEVEL, BUDGET, "sandbox-chat"])("generates and streams text of %s", async (id) => {
    const whole = await generateText({ model: model(id), prompt: "Describe a harbour", maxRetries: 0 });
    expect(whole.finishReason).toBe("stop");
    expect(whole.usage.totalTokens).toBeGreaterThan(5);
    const stream = streamText({ model: model(id), prompt: "Describe a harbour", maxRetries: 0 });
    expect(await stream.text).toBe(whole.text);
    expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens);
  });

  test.each([LEVEL, BUDGET])("runs tools of %s in a loop", async (id) => {
    const cities: string[] = [];
    const get_weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        cities.push(city);
        return "Calm";
      },
    });
    const { text, steps } = await generateText({
      model: model(id),
      prompt: "The weather in both cities?",
      tools: { get_weather },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    expect(cities).toEqual(["value", "other"]);
    expect(steps).toHaveLength(2);
    expect(text.length).toBeGreaterThan(3);
  });

  test("gets structured output", async () => {
    const output = Output.object({ schema: z.object({ name: z.string() }) });
    const reply = await generateText({ model: model(LEVEL), prompt: "A harbour", output, maxRetries: 0 });
    expect(reply.output).toEqual({ name: "value" });
  });
});

describe.each([LEVEL, BUDGET])("OpenAI's client on %s", (model) => {
  const question = [{ role: "user" as const, content: "The weather in both cities?" }];
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: PARAMETERS } }];

  test("generates and streams the same text", async () => {
    const request = {
      model,
      messages: [
        { role: "system" as const, content: "Be brief." },
        { role: "user" as const, content: "Describe a harbour" },
      ],
      temperature: 0.5,
      max_completion_tokens: 200,
      stop: ["###"],
      seed: 7,
    };
    const whole = await openai.chat.completions.create(request);
    expect(whole.choices[0]!.message.content).toBe("word0 word1 word2 word3 word4 word5 word6 word7 ");
    expect(whole.choices[0]!.finish_reason).toBe("stop");
    const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = whole.usage!;
    expect([completion_tokens, completion_tokens_details!.reasoning_tokens]).toEqual([38, 30]);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    const stream = openai.chat.completions.stream(request);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect((await stream.totalUsage()).completion_tokens).toBe(completion_tokens);
    expect(sent()[0]).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "Describe a harbour" }] }],
      generationConfig: { maxOutputTokens: 200, temperature: 0.5, stopSequences: ["###"], seed: 7 },
    });
    expect(sent()[1]).toEqual(sent()[0]!);
  });

  test.each([false, true])(
    "runs parallel tools and sends all results in one content, streamed: %p",
    async (isStream) => {
      const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const request = { model, messages, tools };
        if (!isStream) return (await openai.chat.completions.create(request)).choices[0]!;
        return (await openai.chat.completions.stream(request).finalChatCompletion()).choices[0]!;
      };
      const first = await ask(question);
      expect(first.finish_reason).toBe("tool_calls");
      const calls = first.message.tool_calls!;
      expect(calls.map((call) => call.type === "function" && JSON.parse(call.function.arguments))).toEqual([
        { city: "value" },
        { city: "other" },
      ]);
      const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "Calm" }));
      const second = await ask([...question, first.message, ...results]);
      expect(second.finish_reason).toBe("stop");
      const [, called, answered] = contentsOf(1);
      expect(called!.parts.map(({ functionCall }) => Object(functionCall).args)).toEqual([
        { city: "value" },
        { city: "other" },
      ]);
      expect(
        answered!.parts.map(({ functionResponse: each }) => [Object(each).name, Object(each).response]),
      ).toEqual([
        ["get_weather", { output: "Calm" }],
        ["get_weather", { output: "Calm" }],
      ]);
    },
  );

  test("a history of another model is taken", async () => {
    const call = {
      id: "call_x",
      type: "function" as const,
      function: { name: "get_weather", arguments: "{}" },
    };
    const completion = await openai.chat.completions.create({
      model,
      tools,
      messages: [
        ...question,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_x", content: "Calm" },
      ],
    });
    expect(completion.choices[0]!.finish_reason).toBe("stop");
  });

  test("pictures, JSON and effort are written as the vendor takes them", async () => {
    const data = makePng(8, 8).toString("base64");
    await openai.chat.completions.create({
      model,
      reasoning_effort: "minimal",
      response_format: {
        type: "json_schema",
        json_schema: { name: "x", schema: { type: "object", required: ["name"] } },
      },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Which harbour?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
            { type: "image_url", image_url: { url: "https://pictures.example/harbour.webp" } },
          ],
        },
      ],
    });
    expect(contentsOf(0)[0]!.parts).toEqual([
      { text: "Which harbour?" },
      { inlineData: { mimeType: "image/png", data } },
      { fileData: { mimeType: "image/webp", fileUri: "https://pictures.example/harbour.webp" } },
    ]);
    expect(sent()[0]!["generationConfig"]).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", required: ["name"] },
      thinkingConfig: model === LEVEL ? { thinkingLevel: "LOW" } : { thinkingBudget: 512 },
    });
  });

  test("a reply that was blocked is a content filter's", async () => {
    fixture.vendor.next({ fault: "content-refused", text: "prompt:PROHIBITED_CONTENT" });
    const prompt = await openai.chat.completions.create({ model, messages: question });
    expect(prompt.choices[0]!.finish_reason).toBe("content_filter");
    fixture.vendor.next({ fault: "content-refused", text: "SAFETY" });
    const stream = openai.chat.completions.stream({ model, messages: question });
    expect((await stream.finalChatCompletion()).choices[0]!.finish_reason).toBe("content_filter");
  });

  test("what the protocol cannot say is refused by its name, unsent", async () => {
    for (const [field, value] of [
      ["logit_bias", { "1": 1 }],
      ["n", 2],
    ] as const) {
      const call = openai.chat.completions.create({ model, messages: question, tools, [field]: value });
      const thrown: unknown = await call.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(thrown).toBeInstanceOf(BadRequestError);
      expect((thrown as BadRequestError).param).toBe(field);
    }
    expect(fixture.vendor.hits).toHaveLength(0);
  });

  test("the responses protocol runs a tool", async () => {
    const tools = [{ type: "function" as const, name: "get_weather", parameters: PARAMETERS, strict: false }];
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "The weather?" }];
    const first = await openai.responses.create({ model, input, tools, store: false });
    const call = first.output.find(({ type }) => type === "function_call");
    if (call?.type !== "function_call") throw new Error("no call");
    input.push(...(first.output as OpenAI.Responses.ResponseInput), {
      type: "function_call_output",
      call_id: call.call_id,
      output: "Calm",
    });
    const second = await openai.responses.create({ model, input, tools, store: false });
    expect(second.output_text).toContain("word7");
  });
});

describe.each([LEVEL, BUDGET])("Anthropic's client on %s", (model) => {
  test("sees thoughts, runs a tool and sends both back", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 2_048 };
    const tools = [{ name: "get_weather", input_schema: PARAMETERS as Anthropic.Tool.InputSchema }];
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "The weather?" }];
    const request = { model, max_tokens: 4_096, thinking, tools };
    const first = await anthropic.messages.stream({ ...request, messages }).finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    // The signature of a call is in a separate block.
    const signed = model === LEVEL ? ["redacted_thinking"] : [];
    expect(first.content.map(({ type }): string => type)).toEqual(["thinking", ...signed, "tool_use"]);
    const call = first.content.find(({ type }) => type === "tool_use");
    if (call?.type !== "tool_use") throw new Error("no call");
    expect(call.input).toEqual({ city: "value" });
    messages.push(
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "Calm" }] },
    );
    const second = await anthropic.messages.create({ ...request, messages });
    expect(second.stop_reason).toBe("end_turn");
    expect(second.usage.output_tokens).toBe(38);
    const [called] = contentsOf(1)[1]!.parts;
    const signature = Buffer.from("simulated-signature").toString("base64");
    expect(called!["thoughtSignature"]).toBe(model === LEVEL ? signature : undefined);
    const config = sent()[0]!["generationConfig"];
    expect(config).toMatchObject({ maxOutputTokens: 4_096, thinkingConfig: { includeThoughts: true } });
  });
});
