import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openStream } from "../../src/dialects/chat/stream.ts";
import { policyFor } from "../support/usage-policy.ts";

/* Guarantees of a forwarded stream, for any chunks and line ends of the upstream. */
const SEED = 20_261_121;

test("the client's events do not depend on the upstream's chunks", () => {
  const ends = fc.constantFrom("\n", "\r\n", "\r");
  const pieces = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 8,
  });
  const property = fc.property(
    pieces,
    ends,
    fc.boolean(),
    fc.array(fc.nat(40), { minLength: 1 }),
    (texts, end, isSpaced, cuts) => {
      const bytes = Buffer.from(upstreamFrames(texts, end, isSpaced).join(""));
      const atOnce = relay([bytes]);
      expect(contentOf(atOnce)).toBe(texts.join(""));
      expect(eventsOf(relay(cut(bytes, cuts)))).toEqual(eventsOf(atOnce));
      expect(eventsOf(relay(Array.from(bytes, (byte) => Buffer.of(byte))))).toEqual(eventsOf(atOnce));
    },
  );
  fc.assert(property, { seed: SEED, numRuns: 150 });
});

test("every chunk has the public model name, none the vendor's", () => {
  const sent = relay([Buffer.from(upstreamFrames(["a", "b"], "\n", true).join(""))]);
  expect(sent).not.toContain("vendor-model");
  expect(sent.split('"model":"public"')).toHaveLength(6);
});

test("content in the same chunk as an error frame is delivered before the error", () => {
  const stream = openStream("public", policyFor(10));
  stream.push(frame({ choices: [{ index: 0, delta: { content: "one" } }] }));
  const output = stream.push(
    Buffer.concat([
      frame({ choices: [{ index: 0, delta: { content: "two" } }] }),
      frame({ error: { message: "x", type: "server_error" } }),
      frame({ choices: [{ index: 0, delta: { content: "never" } }] }),
    ]),
  );
  expect(contentOf(Buffer.from(output).toString())).toBe("two");
  expect(stream.isDone).toBe(true);
  expect(() => stream.end()).toThrow("error inside the stream");
  expect(stream.usage()).toMatchObject({ source: "estimated", tokens: { output: 2 } });
});

test("an error frame before any content throws at once, so that another target can be called", () => {
  const stream = openStream("public", policyFor(10));
  const chunk = Buffer.concat([
    frame({ choices: [{ index: 0, delta: { content: "unseen" } }] }),
    frame({ error: { message: "x" } }),
  ]);
  expect(() => stream.push(chunk)).toThrow("error inside the stream");
});

describe("an invalid event", () => {
  test.each([
    ["words", "data: nonsense\n\n"],
    ["a list", "data: []\n\n"],
    ["half an object", 'data: {"choices":[\n\n'],
    ["null", "data: null\n\n"],
  ])("%s is broken", (_, text) => {
    expect(() => openStream("public", policyFor(1)).push(Buffer.from(text))).toThrow();
  });

  test("an event without an end is refused within bounded time", () => {
    const stream = openStream("public", policyFor(1));
    const piece = Buffer.alloc(64 * 1024, 0x61);
    const startedAt = performance.now();
    let longestMs = 0;
    expect(() => {
      for (;;) {
        const before = performance.now();
        stream.push(piece);
        longestMs = Math.max(longestMs, performance.now() - before);
      }
    }).toThrow("endless");
    const totalMs = performance.now() - startedAt;
    console.log(`endless event: ${Math.round(totalMs)} ms in all, ${Math.round(longestMs)} ms at once`);
    expect(longestMs).toBeLessThan(500);
    expect(totalMs).toBeLessThan(5_000);
  });
});

function upstreamFrames(texts: readonly string[], end: string, isSpaced: boolean): string[] {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "vendor-model" };
  const choice = (delta: object, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }];
  const data = [
    { ...head, choices: choice({ role: "assistant", content: "" }) },
    ...texts.map((content) => ({ ...head, choices: choice({ content }) })),
    { ...head, choices: choice({}, "stop") },
    { ...head, choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
  ].map((value) => JSON.stringify(value));
  return [...data, "[DONE]"].map((line) => `data:${isSpaced ? " " : ""}${line}${end}${end}`);
}

function frame(value: object): Buffer<ArrayBuffer> {
  return Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
}

/** Returns the client's complete response. */
function relay(chunks: readonly Buffer<ArrayBuffer>[]): string {
  const stream = openStream("public", policyFor(10));
  const output = chunks.map((chunk) => Buffer.from(stream.push(chunk)));
  return Buffer.concat([...output, stream.end()]).toString();
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

function contentOf(sent: string): string {
  return eventsOf(sent)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data).choices[0]?.delta.content ?? "")
    .join("");
}

/** Returns the data of each event, by the rules of server-sent events. */
function eventsOf(sent: string): string[] {
  const events: string[] = [];
  let data = "";
  for (const line of sent.split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) data += line.slice(line[5] === " " ? 6 : 5);
    if (line !== "" || data === "") continue;
    events.push(data);
    data = "";
  }
  return events;
}
