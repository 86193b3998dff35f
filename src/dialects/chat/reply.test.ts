import { describe, expect, test } from "bun:test";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { readReply } from "./reply.ts";

const USAGE = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };

function reply(more: object = {}): string {
  const message = { role: "assistant", content: 'Grüße, "model":"vendor"' };
  return JSON.stringify({
    id: "c",
    model: "vendor",
    choices: [{ index: 0, message }],
    usage: USAGE,
    ...more,
  });
}

describe("a whole answer", () => {
  test("keeps every character but the model's name", () => {
    const text = reply().replace('"model":"vendor","choices"', '"model" : "vendor" ,\n"choices"');
    const said = readReply({ text }, "public", 10);
    expect(said.text).toBe(text.replace('"vendor" ,', '"public" ,'));
    expect(said.usage).toEqual({ unit: "token", tokens: { input: 4, output: 2 }, source: "upstream" });
  });

  test("is handed on as it is where the name is right, or there is none", () => {
    for (const text of [reply({ model: "public" }), reply({ model: undefined })]) {
      expect(readReply({ text }, "public", 10).text).toBe(text);
    }
  });

  test("without usage is billed by what was said", () => {
    const toolCalls = [{ id: "t", function: { name: "f", arguments: "{}" } }];
    const choices = [
      { message: { content: "12345678" } },
      { message: { content: null, tool_calls: toolCalls } },
      { message: { content: "", reasoning_content: "abcd" } },
    ];
    const { usage } = readReply({ text: reply({ usage: null, choices }) }, "public", 40);
    const spoken = 8 + JSON.stringify(toolCalls).length + 4;
    expect(usage.source).toBe("estimated");
    expect(usage.tokens).toEqual({ input: 10, output: Math.ceil(spoken / 4) });
  });

  test.each([
    ["negative", { ...USAGE, completion_tokens: -1 }],
    ["a fraction", { ...USAGE, completion_tokens: 1.5 }],
    ["more cached than asked", { ...USAGE, prompt_tokens_details: { cached_tokens: 99 } }],
  ])("whose usage is %s is clamped and flagged", (_, usage) => {
    const found = readReply({ text: reply({ usage }) }, "public", 10).usage;
    expect(found.anomalous).toBe(true);
    for (const count of Object.values(found.tokens)) expect(count).toBeWithin(0, 7);
  });

  test.each(["", "words", "[]", "{}", '{"choices":{}}', "null"])("%p is none", (text) => {
    expect(() => readReply({ text: text }, "public", 10)).toThrow(UpstreamError);
  });
});
