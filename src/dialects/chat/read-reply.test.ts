import { describe, expect, test } from "bun:test";
import { collectReply, type Reply } from "../conversation/reply.ts";
import { parseReply, ChatReplyReader } from "./read-reply.ts";

const choice = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

describe("the calls of a vendor", () => {
  const call = (more: object, named: object) => choice({ tool_calls: [{ ...more, function: named }] });

  test("that share an index and differ in their id are two", () => {
    const { parts } = read([
      call({ index: 0, id: "a" }, { name: "f", arguments: "{" }),
      call({ index: 0 }, { arguments: "}" }),
      call({ index: 0, id: "b" }, { name: "g", arguments: "{}" }),
    ]);
    expect(parts).toEqual([
      { type: "tool_call", id: "a", name: "f", kind: "function", arguments: "{}" },
      { type: "tool_call", id: "b", name: "g", kind: "function", arguments: "{}" },
    ]);
  });

  test("of a whole reply are as many as there are, each with an id of its own", () => {
    const calls = [1, 2].map((n) => ({
      id: "a",
      index: 0,
      function: { name: "f", arguments: `{"n":${n}}` },
    }));
    const { parts } = parseReply({ text: JSON.stringify({ choices: [{ message: { tool_calls: calls } }] }) });
    expect(parts).toMatchObject([
      { id: "a", arguments: '{"n":1}' },
      { id: expect.stringMatching(/^call_\w{24}$/), arguments: '{"n":2}' },
    ]);
  });

  test("that repeat name and id in every delta are one", () => {
    const { parts } = read([
      call({ index: 0, id: "a" }, { name: "f", arguments: '{"x"' }),
      call({ index: 0, id: "a" }, { name: "f", arguments: ":1}" }),
    ]);
    expect(parts).toMatchObject([{ name: "f", arguments: '{"x":1}' }]);
  });

  test("without an id get one, and those without arguments an empty object", () => {
    const { parts, finish } = read([call({}, { name: "f", arguments: "" }), choice({}, "stop")]);
    expect(parts).toMatchObject([{ id: expect.stringMatching(/^call_\w{24}$/), arguments: "{}" }]);
    expect(finish.reason).toBe("tool_calls");
  });

  test("have arguments as an object, or a name that comes late", () => {
    const { parts } = read([
      call({ index: 0, id: "a" }, { arguments: '{"x":' }),
      call({ index: 0 }, { name: "f", arguments: "1}" }),
      call({ index: 1, id: "b" }, { name: "g", arguments: { y: 2 } }),
    ]);
    expect(parts).toMatchObject([
      { name: "f", arguments: '{"x":1}' },
      { name: "g", arguments: '{"y":2}' },
    ]);
  });

  test("keep the signature that Google puts beside them", () => {
    const signed = { id: "a", extra_content: { google: { thought_signature: "c2ln" } } };
    const { parts } = read([call({ ...signed, index: 0 }, { name: "f", arguments: "{}" })]);
    expect(parts).toMatchObject([{ signature: { dialect: "chat", value: "c2ln" } }]);
  });
});

describe("the reasoning of a vendor", () => {
  const text = { type: "text" as const, text: "Hello." };
  const thought = { type: "reasoning" as const, text: "Hm.", signature: null };

  test.each([
    ["in reasoning_content", [{ reasoning_content: "Hm." }]],
    ["in reasoning", [{ reasoning: "Hm." }]],
    ["in both, once", [{ reasoning: "Hm.", reasoning_content: "Hm." }]],
    [
      "in details, once",
      [{ reasoning: "Hm.", reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] }],
    ],
    ["in a summary", [{ reasoning_details: [{ type: "reasoning.summary", summary: "Hm." }] }]],
    [
      "in parts of the content",
      [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }],
    ],
    ["between tags", [{ content: "<think>Hm.</think>\n" }]],
    [
      "between tags that are cut",
      [{ content: "<t" }, { content: "hink>Hm" }, { content: ".</thi" }, { content: "nk>" }],
    ],
  ])("is read %s", (_, deltas) => {
    const { parts } = read([...deltas.map((delta) => choice(delta)), choice({ content: "Hello." }, "stop")]);
    expect(parts).toEqual([thought, text]);
  });

  test("that is encrypted keeps what a relay wants back with it", () => {
    const details = [
      { type: "reasoning.encrypted", data: "x9", id: "rs_1", format: "openai-responses-v1", index: 0 },
    ];
    const [part] = read([choice({ reasoning_details: details })]).parts;
    expect(part).toMatchObject({ type: "reasoning", isRedacted: true });
    expect(JSON.stringify(part)).toContain("openai-responses-v1");
  });

  test("that never ends was text, also after it went out as reasoning", () => {
    const whole = { content: "<think> is a tag." };
    const message = { choices: [{ index: 0, message: whole, finish_reason: "stop" }] };
    expect(parseReply({ text: JSON.stringify(message) }).parts).toEqual([
      { type: "text", text: "<think> is a tag." },
    ]);
    const pieces = ["\n<th", "ink> is", " a tag."].map((content) => choice({ content }));
    expect(read([...pieces, choice({}, "stop")]).parts.at(-1)).toEqual({
      type: "text",
      text: "<think> is a tag.",
    });
    const cut = read([...pieces, choice({}, "length")]).parts;
    expect(cut).toMatchObject([{ type: "reasoning", text: "is a tag." }]);
  });

  test("leaves text with a tag further on as it is", () => {
    const { parts } = read([choice({ content: "Use <think> to think." })]);
    expect(parts).toEqual([{ type: "text", text: "Use <think> to think." }]);
  });
});

test("a first chunk without choices and chunks without role, id and end mark make a reply", () => {
  const reader = new ChatReplyReader();
  const events = [{ choices: [], prompt_filter_results: [] }, choice({ content: "a" }), choice({}, "length")];
  const reply = collectReply(events.flatMap((event) => [...reader.read(JSON.stringify(event))]));
  expect(reply).toMatchObject({ id: null, parts: [{ text: "a" }], finish: { reason: "length" } });
  expect(reader.isComplete).toBe(true);
});

test("a reply that was cut is not complete", () => {
  const reader = new ChatReplyReader();
  expect([...reader.read(JSON.stringify(choice({ content: "a" })))]).toHaveLength(2);
  expect(reader.isComplete).toBe(false);
});

test.each([
  [{ error: { code: 429, message: "slow" } }, "limited"],
  [{ error: { type: "insufficient_quota", message: "none" } }, "account"],
  [{ error: "boom" }, "overloaded"],
  [{ object: "error", message: "bad", code: 400 }, "rejected"],
  [{ ...choice({}), x_groq: { error: { message: "boom" } } }, "overloaded"],
  [choice({}, "insufficient_system_resource"), "overloaded"],
  [choice({}, "error"), "overloaded"],
])("%o is an error", (event, kind) => {
  const reader = new ChatReplyReader();
  expect(() => [...reader.read(JSON.stringify(event))]).toThrow(expect.objectContaining({ kind }));
});

test.each(["{", "7", "null"])("%p is no event", (data) => {
  expect(() => [...new ChatReplyReader().read(data)]).toThrow(expect.objectContaining({ kind: "broken" }));
});

test("usage is read wherever it stands, and the last one counts", () => {
  const usage = { prompt_tokens: 9, completion_tokens: 2 };
  for (const event of [
    { choices: [], usage },
    { ...choice({}), x_groq: { usage } },
    { choices: [{ usage }] },
  ])
    expect(read([choice({}), event]).report?.tokens).toEqual({ input: 9, output: 2 });
  expect(
    read([
      { ...choice({}), usage: { prompt_tokens: 1 } },
      { choices: [], usage },
    ]).report?.tokens,
  ).toEqual({
    input: 9,
    output: 2,
  });
});

test("a whole reply is read as a stream of one chunk", () => {
  const message = { role: "assistant", content: null, refusal: "No.", tool_calls: null };
  const text = ` \n${JSON.stringify({ id: "x", choices: [{ message, finish_reason: "content_filter" }] })}`;
  expect(parseReply({ text })).toMatchObject({
    id: "x",
    parts: [{ type: "refusal", text: "No." }],
    finish: { reason: "refused" },
  });
  for (const none of ["{}", '{"choices":[]}', "<html>"])
    expect(() => parseReply({ text: none })).toThrow(expect.objectContaining({ kind: "broken" }));
});

function read(events: readonly object[]): Reply {
  const reader = new ChatReplyReader();
  const all = [...events.map((event) => JSON.stringify(event)), "[DONE]"].flatMap((data) => [
    ...reader.read(data),
  ]);
  const { id, parts, finish, report } = collectReply(all);
  return { id, parts, finish, report };
}
