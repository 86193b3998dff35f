import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { observingPolicy, policyFor } from "../../../test/support/usage-policy.ts";
import { openStream } from "./stream.ts";

const SEED = 20_261_121;
const PUBLIC = "public-model";
const VENDOR = "vendor-model-2026";

test("of an event without data only comments are passed on, as clients would parse it", () => {
  const stream = openStream(PUBLIC, policyFor(3));
  const first = `data: ${chunk([choice({ content: "a" })])}\n\n`;
  const empty = "data:\n\ndata: \n\nevent: ping\n\n: note\r\ndata\r\n\r\nid: 7\n\n: busy\n\n";
  const passed = Buffer.from(stream.push(Buffer.from(first + empty))).toString();
  expect(passed.slice(passed.indexOf("\n\n") + 2)).toBe("id: 7\n\n: busy\n\n");
  stream.push(Buffer.from(`data: ${chunk([choice({}, "stop")])}\n\n`));
  expect(() => stream.end()).not.toThrow();
});

test("a stream is cut unless every choice has ended", () => {
  const second = (delta: object, finish: string | null = null) => ({ ...choice(delta, finish), index: 1 });
  const both = [choice({ content: "a" }), second({ content: "b" })];
  const read = (last: object[]) => {
    const stream = openStream(PUBLIC, policyFor(3));
    for (const data of [chunk(both), chunk([choice({}, "stop")]), ...(last.length > 0 ? [chunk(last)] : [])])
      stream.push(Buffer.from(`data: ${data}\n\n`));
    return stream;
  };
  expect(() => read([]).end()).toThrow("cut");
  expect(() => read([second({}, "length")]).end()).not.toThrow();
});

test("a report is final once every choice has ended, and an unusable one replaces none", () => {
  const { policy, last } = observingPolicy();
  const stream = openStream(PUBLIC, policy);
  const observe = (data: string) => {
    stream.push(Buffer.from(`data: ${data}\n\n`));
    stream.usage();
    return [last()!.isReportFinal, last()!.report?.tokens];
  };
  const tokens = { input: 5, output: 2 };
  expect(observe(chunk([choice({ content: "a" })], { usage: counted(5, 2) }))).toEqual([false, tokens]);
  expect(observe(chunk([choice({}, "stop")]))).toEqual([true, tokens]);
  expect(observe(chunk([], { usage: { prompt_tokens: "many" } }))).toEqual([true, tokens]);
});

/** Streams as vendors of this dialect send them: the data of each event, and `[DONE]` if the vendor sends it. */
const GOLDEN: Readonly<Record<string, readonly string[]>> = {
  "null usage in every chunk": [
    chunk([choice({ role: "assistant", content: "" })], { usage: null }),
    chunk([choice({ content: "Grüße, " })], { usage: null }),
    chunk([choice({ content: "世界 🌍" })], { usage: null }),
    chunk([choice({ content: " end" })], { usage: null }),
    chunk([choice({}, "stop")], { usage: null }),
    chunk([], { usage: counted(9, 4) }),
    "[DONE]",
  ],
  "padding behind the choices": [
    chunk([choice({ role: "assistant", content: "" })], { obfuscation: "aZ" }),
    chunk([choice({ content: "one" })], { obfuscation: "q9xKaa" }),
    chunk([choice({ content: " two" })], { obfuscation: "q" }),
    chunk([choice({ content: 'quo"ted \\ and\nbroken' })], { obfuscation: "" }),
    chunk([choice({ content: " three" })], { obfuscation: "zzzz" }),
    chunk([choice({}, "length")], { obfuscation: "zz" }),
    chunk([], { usage: counted(3, 7) }),
    "[DONE]",
  ],
  "usage beside the finish": [
    chunk([choice({ role: "assistant", content: "Hi" })]),
    chunk([choice({ content: " there" })]),
    chunk([choice({}, "stop")], { usage: counted(5, 2) }),
    "[DONE]",
  ],
  "usage under a vendor's own name": [
    chunk([choice({ role: "assistant", content: "" })], { x_groq: { id: "q" } }),
    chunk([choice({ content: "a" })]),
    chunk([choice({ content: "b" })]),
    chunk([choice({}, "stop")], { x_groq: { id: "q", usage: counted(8, 1) } }),
    "[DONE]",
  ],
  "no usage and no end mark": [
    chunk([choice({ role: "assistant", content: "only" })]),
    chunk([choice({ content: " text" })]),
    chunk([choice({ content: " here" })]),
    chunk([choice({}, "stop")]),
  ],
  "reasoning, tools and two choices": [
    chunk([choice({ role: "assistant", reasoning_content: "hm" })]),
    chunk([choice({ reasoning_content: " so" })]),
    chunk([
      choice({
        tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "" } }],
      }),
    ]),
    chunk([choice({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] })]),
    chunk([choice({ content: "x" }), { ...choice({ role: "assistant", content: "y" }), index: 1 }]),
    chunk([{ ...choice({ content: "z" }), index: 1 }]),
    chunk([choice({}, "tool_calls"), { ...choice({}, "stop"), index: 1 }]),
    chunk([], { usage: counted(30, 12) }),
    "[DONE]",
  ],
  "content that looks like protocol": [
    chunk([choice({ role: "assistant", content: "" })]),
    chunk([choice({ content: `"model":"${VENDOR}"` })]),
    chunk([choice({ content: "[DONE]" })]),
    chunk([choice({ content: 'data: {"usage":{}} "error"' })]),
    chunk([choice({ content: '"finish_reason":"stop"' })]),
    chunk([choice({ content: `${VENDOR} ` })]),
    chunk([choice({ content: "last" })]),
    chunk([choice({}, "stop")]),
    chunk([], { usage: counted(1, 1) }),
    "[DONE]",
  ],
};

const STYLES: Readonly<Record<string, (data: string) => string>> = {
  compact: (data) => data,
  spaced: (data) =>
    data === "[DONE]" ? data : JSON.stringify(JSON.parse(data), null, 1).replaceAll("\n", " "),
  escaped: (data) =>
    data.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
};

describe.each(Object.entries(GOLDEN))("a stream with %s", (_, events) => {
  test("arrives event for event, whatever its chunks, line ends and JSON style", () => {
    const property = fc.property(
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.constantFrom("data: ", "data:"),
      fc.constantFrom(...Object.values(STYLES)),
      fc.constantFrom("m", VENDOR, PUBLIC, `${VENDOR}-under-a-much-longer-name`),
      fc.array(fc.nat(300), { minLength: 1, maxLength: 8 }),
      (end, field, style, model, sizes) => {
        const frames = events.map((data) => `${field}${style(data)}${end}${end}`);
        const sent = relay(cut(Buffer.from(frames.join("")), sizes), model);
        expect(received(sent.text)).toEqual(expected(events, model));
        expect(sent.usage).toEqual(relay([Buffer.from(frames.join(""))], model).usage);
      },
    );
    fc.assert(property, { seed: SEED, numRuns: 120 });
  });

  test("keeps every byte but the model name and moved usage, one event at a time", () => {
    for (const style of Object.values(STYLES)) {
      const stream = openStream(PUBLIC, policyFor(3));
      for (const data of events) {
        const frame = `data: ${style(data)}\n\n`;
        const output = Buffer.from(stream.push(Buffer.from(frame))).toString();
        const isHeldBack = data === "[DONE]" || JSON.parse(data).choices.length === 0;
        expect(output).toBe(isHeldBack ? "" : withoutUsage(renamed(frame)));
      }
    }
  });
});

test("several events in one chunk keep every byte but the model name", () => {
  const texts = ["a", "bb", "ccc", 'd"d', "e\ne", "f"];
  const frames = texts.map((content) => `data: ${chunk([choice({ content })], { usage: null })}\n\n`);
  const stream = openStream(PUBLIC, policyFor(3));
  stream.push(Buffer.from(frames[0] ?? ""));
  const output = Buffer.from(stream.push(Buffer.from(frames.join("")))).toString();
  expect(output).toBe(frames.map(renamed).join(""));
});

test("comments and other SSE fields pass unchanged", () => {
  const stream = openStream(PUBLIC, policyFor(3));
  stream.push(frameOf(chunk([choice({ content: "a" })])));
  stream.push(frameOf(chunk([choice({ content: "b" })])));
  for (const words of [": ping\n\n", "id: 7\n\n", "retry: 10\n\n"]) {
    expect(Buffer.from(stream.push(Buffer.from(words))).toString()).toBe(words);
  }
});

test("of many comments in a row the first of each chunk passes, and blank lines do not", () => {
  const stream = openStream(PUBLIC, policyFor(3));
  stream.push(frameOf(chunk([choice({ content: "a" })])));
  const send = (text: string) => Buffer.from(stream.push(Buffer.from(text))).toString();
  expect(send(`${": ping\n\n".repeat(9)}\n\n\r\r\r\n`)).toBe(": ping\n\n");
  expect(send(": pong\n\n")).toBe(": pong\n\n");
});

test("a frame that does not match the template is parsed", () => {
  const stream = openStream(PUBLIC, policyFor(3));
  const send = (data: string) => Buffer.from(stream.push(frameOf(data))).toString();
  send(chunk([choice({ content: "a" })]));
  send(chunk([choice({ content: "b" })]));
  const other = chunk([choice({ content: "c" })]).replace(":17", ":18");
  expect(send(other)).toBe(renamed(`data: ${other}\n\n`));
  const third = chunk([choice({ content: "d" })]).replace(VENDOR, "fallback-model");
  expect(send(third)).not.toContain("fallback-model");
  expect(send(chunk([choice({ content: "e" })]))).not.toContain(VENDOR);
});

test("a public model name outside ASCII is sent in UTF-8", () => {
  const stream = openStream("模型", policyFor(3));
  const output = Buffer.from(stream.push(frameOf(chunk([choice({ content: "é" })])))).toString();
  expect(output).toContain('"model":"模型"');
  expect(output).toContain('"content":"é"');
});

describe("the end of a response", () => {
  test("a cut before the finish is an upstream error without an ending", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    stream.push(frameOf(chunk([choice({ content: "half" })])));
    expect(() => stream.end()).toThrow(UpstreamError);
  });

  test("a missing usage chunk is written from the estimate", () => {
    const events = GOLDEN["no usage and no end mark"] ?? [];
    const { text, usage } = relay(events.map(frameOf));
    expect(usage).toEqual({ unit: "token", tokens: { input: 3, output: 4 }, source: "estimated" });
    const last = received(text).at(-2);
    expect(last).toMatchObject({ id: "c1", model: PUBLIC, choices: [], usage: { total_tokens: 7 } });
  });

  test("impossible usage is replaced by what is billed", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    stream.push(frameOf(chunk([choice({ content: "x" }, "stop")])));
    stream.push(frameOf(chunk([], { usage: { ...counted(5, 2), completion_tokens: -3 } })));
    expect(stream.usage()).toMatchObject({ anomalous: true, tokens: { input: 5, output: 1 } });
    expect(Buffer.from(stream.end()).toString()).toContain('"completion_tokens":1');
  });

  test.each(["data: [DONE]\n\n", `data: ${chunk([], { usage: counted(9, 0) })}\n\ndata: [DONE]\n\n`])(
    "an end mark before any content is an upstream error: %p",
    (text) => {
      expect(() => openStream(PUBLIC, policyFor(3)).push(Buffer.from(text))).toThrow(UpstreamError);
    },
  );
});

describe("usage before the end", () => {
  const early = { usage: counted(9, 1) };
  const long = "word ".repeat(80);

  test("of a stream that goes on and is cut gives way to the larger estimate", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    stream.push(frameOf(chunk([choice({ content: "a" })], early)));
    expect(stream.usage()).toMatchObject({ source: "upstream", tokens: { input: 9, output: 1 } });
    stream.push(frameOf(chunk([choice({ content: long })])));
    stream.push(frameOf(chunk([choice({ content: long })])));
    expect(stream.usage()).toMatchObject({ source: "estimated", tokens: { input: 9, output: 201 } });
  });

  test("that no later usage follows gives way too, although the stream was complete", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    stream.push(frameOf(chunk([choice({ content: "a" })], early)));
    stream.push(frameOf(chunk([choice({ content: long }, "stop")])));
    expect(Buffer.from(stream.end()).toString()).toContain('"completion_tokens":101');
  });

  test("is final once every choice has ended, even where the end mark is cut off", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    stream.push(frameOf(chunk([choice({ content: long }, "stop")])));
    stream.push(frameOf(chunk([], early)));
    expect(stream.usage()).toMatchObject({ source: "upstream", tokens: { output: 1 } });
  });

  test("beside content moves to the usage chunk, corrected", () => {
    const stream = openStream(PUBLIC, policyFor(3));
    const usage = { ...counted(9, -5), custom: 7 };
    const pushed = stream.push(
      frameOf(chunk([choice({ role: "assistant", content: long }, "stop")], { usage })),
    );
    const [sent, moved] = received(Buffer.concat([pushed, stream.end()]).toString());
    expect(sent).not.toHaveProperty("usage");
    expect(sent).toMatchObject({ model: PUBLIC, choices: [choice({ content: long }, "stop")] });
    expect(moved).toMatchObject({
      id: "c1",
      created: 17,
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 100, total_tokens: 109, custom: 7 },
    });
  });
});

function chunk(choices: readonly object[], more: object = {}): string {
  const head = { id: "c1", object: "chat.completion.chunk", created: 17, model: VENDOR };
  return JSON.stringify({ ...head, choices, ...more });
}

function choice(delta: object, finish_reason: string | null = null): object {
  return { index: 0, delta, logprobs: null, finish_reason };
}

function counted(prompt_tokens: number, completion_tokens: number): object {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function frameOf(data: string): Buffer<ArrayBuffer> {
  return Buffer.from(`data: ${data}\n\n`);
}

/** Returns the frame with the model's public name. */
function renamed(frame: string): string {
  return frame.replace(/("model"\s*:\s*)"[^"]*"/, `$1"${PUBLIC}"`);
}

/** Returns a frame without `usage`. `usage` is the last field of the frame, or of the vendor's own object. */
function withoutUsage(frame: string): string {
  return frame.replace(/,?\s*"usage"\s*:\s*\{[^{}]*\}/, "");
}

function relay(chunks: readonly Buffer<ArrayBuffer>[], model = PUBLIC) {
  const stream = openStream(model, policyFor(3));
  const output = chunks.map((piece) => Buffer.from(stream.push(piece)));
  output.push(Buffer.from(stream.end()));
  return { text: Buffer.concat(output).toString(), usage: stream.usage() };
}

/** Returns the expected events with the public name. Usage and `[DONE]` occur once, at the end. */
function expected(events: readonly string[], model: string): unknown[] {
  const values = events
    .filter((data) => data !== "[DONE]")
    .map((data) => Object.assign(JSON.parse(data), { model }));
  const usage = values.find(({ choices }) => choices.length === 0);
  const rest = values.filter(({ choices }) => choices.length > 0);
  const moved = rest.map((value) => value.usage ?? value.x_groq?.usage).find(Boolean) ?? expect.anything();
  for (const value of rest) {
    if (value.usage) delete value.usage;
    if (value.x_groq?.usage) delete value.x_groq.usage;
  }
  return [...rest, usage ?? expect.objectContaining({ choices: [], usage: moved }), "[DONE]"];
}

/** Returns the events that a reader of the stream receives. */
function received(text: string): unknown[] {
  return text
    .split(/(?:\r\n|\n|\r(?!\n)){2}/)
    .filter((frame) => frame !== "")
    .map((frame) => frame.replace(/^data: ?/, ""))
    .map((data): unknown => (data === "[DONE]" ? data : JSON.parse(data)));
}

function cut(bytes: Buffer<ArrayBuffer>, sizes: readonly number[]): Buffer<ArrayBuffer>[] {
  const pieces: Buffer<ArrayBuffer>[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const size = (sizes[turn % sizes.length] ?? 0) + 1;
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}
