import { expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { openStream } from "./stream.ts";

const PUBLIC = "public-model";

test("the first delta of each choice has a role", () => {
  const [first, second, third] = relay([
    { id: "c", model: "m", choices: [{ index: 0, delta: { content: "a" } }] },
    { id: "c", model: "m", choices: [{ index: 0, delta: { content: "b" } }] },
    { id: "c", model: "m", choices: [{ index: 1, delta: { content: "c" } }] },
  ]);
  expect(first).toMatchObject({ choices: [{ delta: { role: "assistant", content: "a" } }] });
  expect(second).toMatchObject({ choices: [{ delta: { content: "b" } }] });
  expect(second).not.toMatchObject({ choices: [{ delta: { role: "assistant" } }] });
  expect(third).toMatchObject({ choices: [{ index: 1, delta: { role: "assistant", content: "c" } }] });
});

test("every choice has a delta", () => {
  const [, second, third] = relay([
    { id: "c", model: "m", choices: [{ index: 0, delta: { content: "a" } }] },
    { id: "c", model: "m", choices: [{ index: 0, finish_reason: null, content_filter_results: {} }] },
    { id: "c", model: "m", choices: [{ index: 0, finish_reason: "stop", delta: null }] },
  ]);
  expect(second).toMatchObject({ choices: [{ delta: {}, content_filter_results: {} }] });
  expect(third).toMatchObject({ choices: [{ delta: {}, finish_reason: "stop" }] });
});

test.each([
  ["choice", [null]],
  ["call", [{ index: 0, delta: { tool_calls: [null] } }]],
])("a %s that is no object ends the stream as broken, after what came before", (_, choices) => {
  const stream = openStream(PUBLIC, policyFor(3));
  const good = { id: "c", model: PUBLIC, choices: [{ index: 0, delta: { content: "a" } }] };
  const written = [good, { ...good, choices }].map((event) =>
    Buffer.from(stream.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))).toString(),
  );
  expect(written).toEqual([expect.stringContaining('"content":"a"'), ""]);
  expect(() => stream.end()).toThrow(expect.objectContaining({ kind: "broken" }));
});

test("every chunk has an id, the same where the vendor sends none, and the public model at its top alone", () => {
  const deeper = { model: "deeper" };
  const chunks = relay([
    { choices: [{ index: 0, delta: { role: "assistant", content: "a" }, ...deeper }], metadata: deeper },
    { choices: [{ index: 0, delta: { content: "b" }, finish_reason: "stop" }], model: "m" },
  ]);
  expect(chunks).toHaveLength(4);
  const ids = new Set(chunks.slice(0, 3).map((chunk) => Object(chunk).id));
  expect([...ids]).toEqual([expect.stringMatching(/^chatcmpl-\w{32}$/)]);
  for (const chunk of chunks.slice(0, 3)) expect(chunk).toMatchObject({ model: PUBLIC });
  expect(chunks[0]).toMatchObject({ choices: [deeper], metadata: deeper });
  expect(chunks[2]).toMatchObject({ choices: [], created: expect.any(Number), usage: { total_tokens: 4 } });
});

test("an id that changes within a stream stays the first one", () => {
  const chunks = relay(
    ["a", "b", "b", "c"].map((id) => ({ id, choices: [{ index: 0, delta: { content: id } }] })),
  );
  expect(chunks.map((chunk) => Object(chunk).id)).toEqual(["a", "a", "a", "a"]);
});

test("calls tell their id and name once, and the first ones stay", () => {
  const call = (id: unknown, name: unknown, args: string) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: args } }] } }],
  });
  const calls = relay([
    call("a", "", "{"),
    call("", "f", '"x"'),
    call(null, null, ":1"),
    call("a", "f", "}"),
    call("", "", ""),
  ]).map((chunk) => Object(chunk).choices[0].delta.tool_calls[0]);
  expect(calls).toEqual([
    { index: 0, id: "a", type: "function", function: { arguments: "{" } },
    { index: 0, function: { name: "f", arguments: '"x"' } },
    { index: 0, function: { arguments: ":1" } },
    { index: 0, function: { arguments: "}" } },
    { index: 0, function: { arguments: "" } },
  ]);
});

test("calls are numbered without gaps, also those that share an index or have none", () => {
  const call = (index: number | undefined, id?: string, name?: string, args = "") => ({
    ...(index !== undefined && { index }),
    ...(id && { id }),
    function: { ...(name && { name }), arguments: args },
  });
  const numbersOf = (calls: object[]) =>
    relay(
      calls.map((each) => ({ choices: [{ index: 0, delta: { role: "assistant", tool_calls: [each] } }] })),
    ).map((chunk) => Object(chunk).choices[0].delta.tool_calls[0].index);
  expect(numbersOf([call(0, "a", "f"), call(0, undefined, undefined, "{}"), call(1, "b", "g")])).toEqual([
    0, 0, 1,
  ]);
  expect(numbersOf([call(0, "a", "f"), call(0, "b", "f"), call(0, "b", undefined, "{}")])).toEqual([0, 1, 1]);
  expect(numbersOf([call(undefined, "a", "f", "{}"), call(undefined, "b", "f", "{}")])).toEqual([0, 1]);
  expect(numbersOf([call(undefined, "", "f", "{}"), call(undefined, "", "g", "{}")])).toEqual([0, 1]);
  expect(numbersOf([call(2, "a", "f"), call(2, undefined, undefined, "{}"), call(5, "b", "f")])).toEqual([
    0, 0, 1,
  ]);
  expect(numbersOf([call(0, "a", "f"), call(0, "a", "f", "{}")])).toEqual([0, 0]);
});

test("a call without an id gets one at its beginning, and arguments that are an object become text", () => {
  const call = (part: object) => ({ choices: [{ index: 0, delta: { tool_calls: [part] } }] });
  const calls = relay([
    call({ index: 0, function: { name: "f" } }),
    call({ index: 0, function: { arguments: { n: 1, 名: "é" } } }),
    call({ index: 0, id: "late", function: { arguments: "" } }),
    call({ index: 1, custom: { name: "g", input: "x" } }),
  ]).map((chunk) => Object(chunk).choices[0].delta.tool_calls[0]);
  const id = expect.stringMatching(/^call_/);
  expect(calls).toEqual([
    { index: 0, id, type: "function", function: { name: "f" } },
    { index: 0, function: { arguments: '{"n":1,"名":"é"}' } },
    { index: 0, function: { arguments: "" } },
    { index: 1, id, type: "custom", custom: { name: "g", input: "x" } },
  ]);
});

test("what OpenAI's types require is in every chunk, in its words", () => {
  const [first, second, last] = relay([
    { created: 1_790_000_000_123, choices: [{ delta: { content: [{ type: "text", text: "猫" }] } }] },
    { choices: [{ index: 0, delta: { role: null, content: "b" }, finish_reason: "" }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "model_length" }] },
  ]) as { created: number; choices: [object] }[];
  expect(new Set([first!.created, second!.created, last!.created]).size).toBe(1);
  expect(first).toMatchObject({
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { role: "assistant", content: "猫" }, finish_reason: null }],
  });
  expect(second!.choices[0]).toEqual({
    index: 0,
    delta: { role: "assistant", content: "b" },
    finish_reason: null,
  });
  expect(last!.choices[0]).toMatchObject({ finish_reason: "length" });
});

test("arguments keep every character", () => {
  const args = String.raw`{\"n\":12345678901234567890,\"x\":1.0,\"u\":\"\u00e9\"}`;
  const frame = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"${args}"}}]}}]}\n\n`;
  const output = Buffer.from(openStream(PUBLIC, policyFor(3)).push(Buffer.from(frame))).toString();
  expect(output).toContain(args);
  expect(output).toContain('"index":0,"id":"a"');
});

test("a role that was put in is not repeated in the frames after", () => {
  const frames = ["a", "b", "c"].map(
    (content) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`,
  );
  const stream = openStream(PUBLIC, policyFor(3));
  const output = frames.map((frame) => Buffer.from(stream.push(Buffer.from(frame))).toString()).join("");
  expect(output.match(/assistant/g)).toHaveLength(1);
});

/** Returns the events that a caller receives for these chunks. The stream ends if a chunk has a finish reason. */
function relay(chunks: readonly object[]): unknown[] {
  const stream = openStream(PUBLIC, policyFor(3));
  const output = chunks.map((chunk) =>
    Buffer.from(stream.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))),
  );
  if (JSON.stringify(chunks).includes("finish_reason")) output.push(Buffer.from(stream.end()));
  return Buffer.concat(output)
    .toString()
    .split("\n\n")
    .filter(Boolean)
    .map((frame): unknown => (frame.endsWith("[DONE]") ? frame : JSON.parse(frame.slice("data: ".length))));
}
