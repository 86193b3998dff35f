import { textOf } from "../../../test/support/bytes.ts";
import { describe, expect, test } from "bun:test";
import type { TextResponse } from "../../gateway/upstreams.ts";
import { sandbox } from "../index.ts";
import { MAX_OUTPUT_TOKENS } from "./conversation.ts";
import { createSandboxTextUpstreams } from "./send.ts";
import { countTokens, splitTokens } from "./tokens.ts";

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

interface Call {
  index?: number;
  id?: string;
  function: { name: string; arguments: string };
}

interface Message {
  content: string;
  tool_calls?: [Call, ...Call[]];
}

interface Choice {
  message: Message;
  finish_reason: string;
}

interface Completion {
  id: string;
  created: number;
  model: string;
  choices: [Choice, ...Choice[]];
  usage: Usage;
}

interface Chunk {
  id: string;
  choices: { index: number; delta: Partial<Message>; finish_reason: string | null }[];
  usage: Usage | null;
}

interface JoinedChoice {
  content: string;
  arguments: string;
  call: Call | undefined;
  finish: string;
}

const open = new AbortController().signal;

function send(
  body: object,
  setting: { tokensPerSecond?: number; signal?: AbortSignal } = {},
): Promise<TextResponse> {
  const raw = JSON.stringify({ model: "sandbox-chat", ...body });
  const isStream = "stream" in body && body.stream === true;
  return createSandboxTextUpstreams(setting)[0]!.send({
    raw,
    upstreamModel: "sandbox-chat",
    headers: {},
    isStream,
    signal: setting.signal ?? open,
  });
}

async function complete(body: object): Promise<Completion> {
  const response = await send(body);
  if (response.kind !== "whole") throw new Error("not whole");
  return JSON.parse(response.text);
}

async function stream(body: object, setting?: Parameters<typeof send>[1]): Promise<Chunk[]> {
  const response = await send({ ...body, stream: true }, setting);
  if (response.kind !== "stream") throw new Error("not a stream");
  const frames = (await textOf(response.stream)).split("\n\n").slice(0, -1);
  expect(frames.every((frame) => frame.startsWith("data: "))).toBe(true);
  expect(frames.at(-1)).toBe("data: [DONE]");
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)));
}

/** Returns the part of a completion that must be equal for equal requests. */
function wordsOf({ choices, usage }: Completion) {
  const messages = choices.map(({ message, finish_reason: finish }) => {
    const calls = message.tool_calls?.map((call) => call.function);
    return { content: message.content, calls, finish };
  });
  return { messages, usage };
}

/** Joins a stream's deltas, for each choice. */
function joinDeltas(chunks: readonly Chunk[]): JoinedChoice[] {
  const joined: JoinedChoice[] = [];
  for (const { index, delta, finish_reason: finish } of chunks.flatMap((chunk) => chunk.choices)) {
    const choice = (joined[index] ??= { content: "", arguments: "", call: undefined, finish: "" });
    const call = delta.tool_calls?.[0];
    if (call?.id) choice.call = call;
    choice.content += delta.content ?? "";
    choice.arguments += call?.function.arguments ?? "";
    choice.finish = finish ?? choice.finish;
  }
  return joined;
}

const userMessage = (content: unknown) => ({ messages: [{ role: "user", content }] });
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 2, maximum: 5 } },
      required: ["city", "days"],
    },
  },
};
const CLOCK = {
  type: "function",
  function: { name: "get_time", parameters: { type: "object", properties: {} } },
};

describe("an answer", () => {
  test.each([
    ["a question", userMessage("What makes tides?")],
    ["several choices", { ...userMessage("What makes tides?"), n: 3 }],
    ["a cut answer", { ...userMessage("What makes tides?"), max_tokens: 7 }],
    ["a tool call", { ...userMessage("Weather in Oslo?"), tools: [WEATHER] }],
    [
      "JSON",
      { ...userMessage("As JSON"), response_format: { type: "json_object" }, reasoning_effort: "low" },
    ],
  ])("to %s has the same words when streamed and when repeated", async (_name, body) => {
    const whole = await complete(body);
    expect(wordsOf(await complete(body))).toEqual(wordsOf(whole));
    const chunks = await stream({ ...body, stream_options: { include_usage: true } });
    for (const chunk of chunks) expect(chunk).toMatchObject({ id: chunks[0]?.id, model: whole.model });
    const joined = joinDeltas(chunks);
    for (const [index, choice] of whole.choices.entries()) {
      expect(joined[index]?.content).toBe(choice.message.content ?? "");
      expect(joined[index]?.arguments).toBe(choice.message.tool_calls?.[0]?.function.arguments ?? "");
      expect(joined[index]?.call?.function.name).toBe(choice.message.tool_calls?.[0]?.function.name);
      expect(joined[index]?.finish).toBe(choice.finish_reason);
    }
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
  });

  test("has an id of its own and the time of its creation", async () => {
    const body = { ...userMessage("Hello"), tools: [CLOCK] };
    const [first, second] = [await complete(body), await complete(body)];
    expect(second.id).not.toBe(first.id);
    expect(second.choices[0].message.tool_calls?.[0].id).not.toBe(
      first.choices[0].message.tool_calls?.[0].id,
    );
    expect(Math.abs(first.created - Date.now() / 1000)).toBeLessThan(10);
  });

  test("never echoes half of a surrogate pair", async () => {
    const half = "\ud83d";
    const schema = { type: "object", properties: { [`key${half}`]: { const: half } } };
    const response_format = { type: "json_schema", json_schema: { name: "x", schema } };
    const long = `${"x".repeat(479)}😀`;
    for (const body of [
      userMessage(`otter ${half}`),
      userMessage(long),
      { ...userMessage("x"), response_format },
    ]) {
      const { content } = (await complete(body)).choices[0].message;
      expect(JSON.stringify(content)).not.toMatch(/\\ud[89ab]/);
    }
  });

  test("quotes what was asked, counts its attachments, and varies between choices", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const { choices, usage } = await complete({
      ...userMessage([{ type: "text", text: "Is this a heron?" }, image]),
      n: 2,
    });
    expect(choices[0].message.content).toContain('"Is this a heron?"');
    expect(choices[0].message.content).toContain("1 attachment ");
    expect(choices[1]?.message.content).not.toBe(choices[0].message.content);
    const without = await complete(userMessage("Is this a heron?"));
    expect(usage.prompt_tokens).toBeGreaterThan(without.usage.prompt_tokens);
  });

  test("streams its role first, then a token a chunk, its end, and its usage", async () => {
    const chunks = await stream(userMessage("Hello"));
    expect(chunks[0]?.choices[0]).toMatchObject({
      delta: { role: "assistant", content: "" },
      finish_reason: null,
    });
    const pieces = chunks.slice(1, -2).map((chunk) => chunk.choices[0]?.delta.content);
    expect(pieces).toEqual(splitTokens(pieces.join("")));
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: pieces.length } });
  });
});

describe("token counts", () => {
  test("are those of the texts that were really read and written", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Tell me about 水." },
    ];
    const { choices, usage } = await complete({ messages, n: 2 });
    expect(usage.prompt_tokens).toBe(countTokens("Be brief.") + countTokens("Tell me about 水."));
    const written = choices.map(({ message }) => countTokens(message.content));
    expect(usage.completion_tokens).toBe(written[0]! + written[1]!);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(usage.prompt_tokens_details.cached_tokens).toBe(0);
  });

  test("are above 0 for an empty prompt", async () => {
    expect((await complete(userMessage(""))).usage.prompt_tokens).toBeGreaterThan(0);
  });

  test("include the hidden ones of a reasoning effort, within the limit", async () => {
    const low = await complete({ ...userMessage("Think"), reasoning_effort: "low" });
    const high = await complete({ ...userMessage("Think"), reasoning_effort: "high" });
    const hidden = (reply: Completion) => reply.usage.completion_tokens_details.reasoning_tokens;
    expect(hidden(high)).toBeGreaterThan(hidden(low));
    expect(low.usage.completion_tokens).toBe(hidden(low) + countTokens(low.choices[0].message.content));
    const tight = await complete({
      ...userMessage("Think"),
      reasoning_effort: "high",
      max_completion_tokens: 20,
    });
    expect(tight.usage.completion_tokens).toBe(20);
    expect(tight.choices[0].finish_reason).toBe("length");
  });
});

describe("the length asked for", () => {
  test.each([
    ["Write 50 words about rivers", 50],
    ["Describe it in exactly 1,200 words.", 1200],
    ["a 7-word slogan", 7],
    ["Say it in 1 word", 1],
  ])("is kept: %s", async (prompt, count) => {
    const { choices } = await complete(userMessage(prompt));
    expect(choices[0].message.content.trim().split(/\s+/)).toHaveLength(count);
    expect(choices[0].finish_reason).toBe("stop");
  });

  test.each([
    ["写50字", 50],
    ["请写 200 个字介绍长江", 200],
    ["用30個字回答", 30],
  ])("is kept in characters: %s", async (prompt, count) => {
    const { choices } = await complete(userMessage(prompt));
    expect(Array.from(choices[0].message.content)).toHaveLength(count);
  });

  test("never goes beyond the token limit", async () => {
    const cut = await complete({ ...userMessage("Write 5000 words"), max_tokens: 100 });
    expect(cut.choices[0].finish_reason).toBe("length");
    expect(cut.usage.completion_tokens).toBe(100);
    const most = await complete(userMessage("Write 9999999 words"));
    expect(most.usage.completion_tokens).toBe(MAX_OUTPUT_TOKENS);
  });
});

describe("stop", () => {
  test("ends the answer before the first of the sequences", async () => {
    const whole = (await complete(userMessage("Hello"))).choices[0].message.content;
    const stop = whole.slice(30, 34);
    const one = await complete({ ...userMessage("Hello"), stop });
    expect(one.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: whole.split(stop)[0] },
    });
    const several = await complete({ ...userMessage("Hello"), stop: ["not there", stop, whole.slice(5, 9)] });
    expect(several.choices[0].message.content).toBe(whole.slice(0, 5));
  });
});

describe("tools", () => {
  test("are called, the first or the chosen one, with arguments that fit", async () => {
    const first = (await complete({ ...userMessage("Weather in Oslo?"), tools: [WEATHER, CLOCK] }))
      .choices[0];
    expect(first.finish_reason).toBe("tool_calls");
    expect(first.message.content).toBeNull();
    const [call] = first.message.tool_calls!;
    expect(call.function.name).toBe("get_weather");
    expect(JSON.parse(call.function.arguments)).toEqual({ city: "Oslo", days: expect.any(Number) });
    expect(JSON.parse(call.function.arguments).days).toBeWithin(2, 6);
    const tool_choice = { type: "function", function: { name: "get_time" } };
    const chosen = await complete({
      ...userMessage("Weather in Oslo?"),
      tools: [WEATHER, CLOCK],
      tool_choice,
    });
    expect(chosen.choices[0].message.tool_calls?.[0].function).toEqual({ name: "get_time", arguments: "{}" });
  });

  test("without parameters are called with an empty object", async () => {
    const ask = async (parameters: object) => {
      const tools = [{ type: "function", function: { name: "ping", parameters } }];
      const { message } = (await complete({ ...userMessage("Ping"), tools })).choices[0];
      return JSON.parse(message.tool_calls![0].function.arguments);
    };
    for (const parameters of [{}, { properties: {} }, { type: "string" }, { enum: ["there"] }])
      expect(await ask(parameters)).toEqual({});
    const city = { properties: { city: { const: "Oslo" } }, required: ["city"] };
    expect(await ask(city)).toEqual({ city: "Oslo" });

    const tools = [{ type: "function", function: { name: "ping" } }];
    const { message } = (await complete({ ...userMessage("Ping"), tools })).choices[0];
    expect(message.tool_calls?.[0].function).toEqual({ name: "ping", arguments: "{}" });
  });

  test("are named once and then filled in, when streamed", async () => {
    const chunks = await stream({ ...userMessage("Weather in Oslo?"), tools: [WEATHER] });
    const calls = chunks.flatMap((chunk) => chunk.choices).flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({
      index: 0,
      type: "function",
      function: { name: "get_weather", arguments: "" },
    });
    expect(calls.slice(1).every((call) => call.id === undefined && call.index === 0)).toBe(true);
    expect(calls.length).toBeGreaterThan(3);
  });

  test("are left alone with `none`, and after their result the answer is made from it", async () => {
    const none = await complete({ ...userMessage("Weather?"), tools: [WEATHER], tool_choice: "none" });
    expect(none.choices[0].message.tool_calls).toBeUndefined();
    const called = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: {} }],
    };
    const result = { role: "tool", tool_call_id: "c1", content: "sunny, 21 degrees" };
    const messages = [...userMessage("Weather?").messages, called, result];
    const answered = (await complete({ messages, tools: [WEATHER] })).choices[0];
    expect(answered.message.content).toContain("sunny, 21 degrees");
    expect(answered.finish_reason).toBe("stop");
  });
});

describe("a response format", () => {
  test("gives a JSON object, or JSON that fits its schema", async () => {
    const object = await complete({ ...userMessage("Anything"), response_format: { type: "json_object" } });
    expect(JSON.parse(object.choices[0].message.content)).toBeObject();
    const schema = {
      type: "object",
      properties: { age: { type: "integer", minimum: 18 } },
      required: ["age"],
    };
    const response_format = { type: "json_schema", json_schema: { name: "person", schema } };
    const fitted = await complete({ ...userMessage("Anything"), response_format });
    expect(JSON.parse(fitted.choices[0].message.content).age).toBeGreaterThanOrEqual(18);
  });
});

describe("a request that no vendor would take", () => {
  test.each([
    ["no messages", {}, "messages"],
    ["an empty list of messages", { messages: [] }, "messages"],
    ["too many choices", { ...userMessage("Hi"), n: 1000 }, "n"],
    [
      "an unknown function",
      { ...userMessage("Hi"), tools: [CLOCK], tool_choice: { type: "function", function: { name: "nope" } } },
      "tool_choice",
    ],
  ])("is rejected with a public message: %s", async (_name, body, param) => {
    await expect(send(body)).rejects.toMatchObject({
      kind: "rejected",
      param,
      publicMessage: expect.any(String),
    });
  });
});

describe("a stream", () => {
  test("makes no more than is read", async () => {
    const response = await send({ ...userMessage("Write 5000 words"), stream: true });
    if (response.kind !== "stream") throw new Error("not a stream");
    const reader = response.stream.getReader();
    const first = await reader.read();
    expect(first.value!.length).toBeLessThan(8192);
    await reader.cancel();
    expect((await reader.read()).done).toBe(true);
  });

  test("that is paced sends one token at a time, no faster than asked", async () => {
    const startedAt = performance.now();
    const chunks = await stream({ ...userMessage("Hi"), max_tokens: 10 }, { tokensPerSecond: 200 });
    expect(chunks.length).toBe(13);
    expect(performance.now() - startedAt).toBeGreaterThan(55);
  });

  test("ends with the signal's reason when the caller goes", async () => {
    const caller = new AbortController();
    const setting = { tokensPerSecond: 2, signal: caller.signal };
    const response = await send({ ...userMessage("Write 500 words"), stream: true }, setting);
    if (response.kind !== "stream") throw new Error("not a stream");
    const reader = response.stream.getReader();
    const reading = reader.read();
    const startedAt = performance.now();
    caller.abort(new Error("the caller went"));
    await expect(reading).rejects.toThrow("the caller went");
    expect(performance.now() - startedAt).toBeLessThan(400);
  });

  test("unpaced costs little", async () => {
    const startedAt = performance.now();
    const chunks = (await stream(userMessage("Write 9000 words"))).length;
    const microseconds = ((performance.now() - startedAt) * 1000) / chunks;
    console.log(`unpaced, made and parsed: ${microseconds.toFixed(1)} µs a chunk over ${chunks} chunks`);
    expect(microseconds).toBeLessThan(100);
  });
});

test("settings are checked, and unknown ones refused", () => {
  expect(sandbox.settings.safeParse({}).success).toBe(true);
  expect(sandbox.settings.safeParse({ tokensPerSecond: 50 }).success).toBe(true);
  expect(sandbox.settings.safeParse({ tokensPerSecond: 0 }).success).toBe(false);
  expect(sandbox.settings.safeParse({ speed: 1 }).success).toBe(false);
});
