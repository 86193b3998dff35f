import { describe, expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { chatReply } from "../../../test/support/published/chat.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { readReply } from "./forward.ts";

const USAGE = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };

function reply(more: object = {}): string {
  const message = { role: "assistant", content: 'Grüße, "model":"vendor"', refusal: null };
  return JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "vendor",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: USAGE,
    ...more,
  });
}

const read = (text: string) => readReply({ text }, "public", policyFor(10));

describe("a response that is not a stream", () => {
  test("keeps every character but the model name", () => {
    const text = reply().replace('"model":"vendor","choices"', '"model" : "vendor" ,\n"choices"');
    const sent = read(text);
    expect(sent.text).toBe(text.replace('"vendor" ,', '"public" ,'));
    expect(sent.usage).toEqual({ unit: "token", tokens: { input: 4, output: 2 }, source: "upstream" });
  });

  test("passes unchanged where the model name is right", () => {
    const text = reply({ model: "public" });
    expect(read(text).text).toBe(text);
  });

  test("gets the required fields that its vendor leaves out, and keeps every other character", () => {
    const call = '{ "function" : {"name":"f","arguments":{ "n": 1.0 }}}';
    const message = `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Häm."}]},{"type":"text","text":"猫"}],"tool_calls":[${call}]}`;
    const text = `{ "choices":[ {"message": ${message} ,"finish_reason":"model_length"} ],"more": 1.50,"usage":${JSON.stringify(USAGE)}}`;
    const sent = read(text).text;
    expect(chatReply.parse(JSON.parse(sent)).choices[0]).toMatchObject({
      index: 0,
      message: {
        role: "assistant",
        content: "猫",
        refusal: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^call_/),
            type: "function",
            function: { name: "f", arguments: '{ "n": 1.0 }' },
          },
        ],
      },
      logprobs: null,
      finish_reason: "length",
    });
    expect(JSON.parse(sent)).toMatchObject({
      model: "public",
      choices: [{ message: { reasoning_content: "Häm." } }],
    });
    expect(sent).toEndWith(`"more": 1.50,"usage":${JSON.stringify(USAGE)}}`);
  });

  test("may have nothing but reasoning where its output was cut, and costs what is reported", () => {
    const message = { role: "assistant", content: null, refusal: null };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: "length" }];
    const usage = { ...USAGE, completion_tokens_details: { reasoning_tokens: 2 } };
    const text = reply({ model: "public", choices, usage });
    const sent = read(text);
    expect(sent.text).toBe(text);
    expect(sent.usage).toEqual({
      unit: "token",
      tokens: { input: 4, output: 0, reasoning: 2 },
      source: "upstream",
    });
  });

  test("without usage is billed by its content", () => {
    const call = { name: "f", arguments: "{}" };
    const choices = [
      { message: { content: "12345678" } },
      { message: { content: null, tool_calls: [{ id: "t", function: call }] } },
      { message: { content: "", reasoning_content: "abcd", reasoning: "abcd" } },
    ];
    const { usage } = read(reply({ usage: null, choices }));
    const characters = 8 + call.name.length + call.arguments.length + 4;
    expect(usage.source).toBe("estimated");
    expect(usage.tokens).toEqual({ input: 10, output: Math.ceil(characters / 4) });
  });

  test.each([
    ["negative", { ...USAGE, completion_tokens: -1 }],
    ["a fraction", { ...USAGE, completion_tokens: 1.5 }],
    ["more cached than prompted", { ...USAGE, prompt_tokens_details: { cached_tokens: 99 } }],
  ])("whose usage is %s is corrected and flagged", (_, usage) => {
    const found = read(reply({ usage })).usage;
    expect(found.anomalous).toBe(true);
    for (const count of Object.values(found.tokens)) expect(count).toBeWithin(0, 8);
  });

  test.each([
    ["absent", undefined, undefined],
    ["null", null, undefined],
    ["text", '"usage"', undefined],
    ["negative", { ...USAGE, prompt_tokens: -20 }, { completion_tokens: 2, total_tokens: 12 }],
    ["strings", { ...USAGE, completion_tokens: "20" }, { prompt_tokens: 4, total_tokens: 11 }],
    ["zero", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, undefined],
    ["half there", { prompt_tokens: 4 }, { prompt_tokens: 4, total_tokens: 11 }],
  ])("shows the billed numbers where the vendor's are %s", (_, usage, expected) => {
    const text = reply({ model: "public", usage });
    const sent = read(text);
    const body = JSON.parse(sent.text);
    expect(body.usage).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 7,
      total_tokens: 17,
      ...expected,
    });
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect({ ...body, usage: null }).toEqual({ ...JSON.parse(text), usage: null });
    expect(sent.usage.source).toBe("estimated");
  });

  test("keeps every other character of a usage that is corrected", () => {
    const details = '{ "audio_tokens" : 1, "cached_tokens": 99 }';
    const usage = (cached: string) =>
      `{ "custom": 1.50, "prompt_tokens" : 4, "completion_tokens": 2,\n "total_tokens":6, "prompt_tokens_details": ${details.replace("99", cached)} }`;
    const text = (cached: string) =>
      reply({ usage: null }).replace('"usage":null', `"usage":${usage(cached)}`);
    expect(read(text("99")).text).toBe(text("4").replace('"vendor","choices"', '"public","choices"'));
  });

  test.each([
    "",
    "words",
    "[]",
    "{}",
    "null",
    '{"choices":{}}',
    '{"choices":[]}',
    '{"choices":[null]}',
    '{"choices":[{}]}',
    '{"choices":[{"message":null}]}',
    '{"choices":[{"message":"x"}]}',
    '{"choices":[{"message":{"content":"x"}},null]}',
    '{"choices":[{"message":{"content":"x","tool_calls":[null]}}]}',
  ])("%p is an upstream error", (text) => {
    expect(() => read(text)).toThrow(UpstreamError);
  });
});
