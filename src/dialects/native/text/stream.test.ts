import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { policyFor } from "../../../../test/support/usage-policy.ts";
import { GatewayError } from "../../../domain/gateway-error.ts";
import { UpstreamError } from "../../../domain/upstream-error.ts";
import type { TextStream } from "../../dialect.ts";
import { openStream } from "./stream.ts";

const SEED = 20_261_122;
const PUBLIC = "public-model";
const VENDOR = '"modelVersion":"gemini-vendor-2026"';

const part = (parts: string, more = "") =>
  `{"candidates":[{"content":{"role":"model","parts":[${parts}]}${more},"index":0}],`;
const counted = (prompt: number, more: string) =>
  `"usageMetadata":{"promptTokenCount":${prompt},${more}},${VENDOR},"responseId":"r1"}`;

/** Streams as the vendor sends them. Each key describes its stream. */
const GOLDEN: Readonly<Record<string, readonly string[]>> = {
  "text, its usage cumulative": [
    part('{"text":"Grüße, "}') + counted(4, '"totalTokenCount":4'),
    part('{"text":"世界 🌍"}') + counted(4, '"candidatesTokenCount": 5 ,"totalTokenCount":9'),
    part('{"text":""}', ',"finishReason":"STOP"') +
      counted(4, '"candidatesTokenCount":8,"totalTokenCount":12'),
  ],
  "thoughts and a call whose numbers no double holds": [
    part('{"text":"Let me see","thought":true}') + counted(9, '"totalTokenCount":9,"thoughtsTokenCount":7'),
    part(
      '{"functionCall":{"name":"f","args":{"id":12345678901234567890,"f":1.0}},"thoughtSignature":"c2ln"}',
    ) + counted(9, '"candidatesTokenCount":20,"totalTokenCount":36,"thoughtsTokenCount":7'),
    part('{"text":""}', ',"finishReason":"STOP","safetyRatings":[]') +
      counted(9, '"candidatesTokenCount":20,"totalTokenCount":36,"thoughtsTokenCount":7'),
  ],
  "two candidates": [
    '{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":0},{"content":{"parts":[{"text":"b"}]},"index":1}]}',
    '{"candidates":[{"finishReason":"STOP","index":0}]}',
    `{"candidates":[{"finishReason":"MAX_TOKENS","index":1}],${counted(3, '"candidatesTokenCount":2,"totalTokenCount":5')}`,
  ],
  "a blocked prompt": [`{"promptFeedback":{"blockReason":"SAFETY"},${counted(4, '"totalTokenCount":4')}`],
};

const bytesOf = (events: readonly string[], end: string) =>
  Buffer.from(events.map((event) => `data: ${event}${end}${end}`).join(""));

function relay(chunks: Iterable<Uint8Array>): { text: string; stream: TextStream } {
  const stream = openStream(PUBLIC, policyFor(3));
  const output = Array.from(chunks, (chunk) => Buffer.from(stream.push(chunk)));
  return { text: Buffer.concat([...output, stream.end()]).toString(), stream };
}

/**
 * Returns the text with LF line breaks. The writer uses LF in a frame that it changes, and in a frame whose line break
 * is split between two chunks.
 */
const plain = (text: string) => text.replaceAll("\r\n", "\n");

describe.each(Object.entries(GOLDEN))("%s", (_, events) => {
  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("passes byte for byte but for the model's name, with %s", (_name, end) => {
    const sent = bytesOf(events, end);
    const { text, stream } = relay([sent]);
    expect(plain(text)).toBe(plain(sent.toString()).replaceAll(VENDOR, `"modelVersion":"${PUBLIC}"`));
    expect(stream.usage().source).toBe("upstream");
  });

  test("is the same however it is cut", () => {
    const sent = bytesOf(events, "\r\n");
    const whole = relay([sent]);
    fc.assert(
      fc.property(fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (sizes) => {
        const { text, stream } = relay(cut(sent, sizes));
        expect(plain(text)).toBe(plain(whole.text));
        expect(stream.usage()).toEqual(whole.stream.usage());
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  test("needs no blank line at its end", () => {
    const sent = bytesOf(events, "\n");
    expect(relay([sent.subarray(0, -2)]).text).toBe(relay([sent]).text);
  });
});

function* cut(bytes: Uint8Array, sizes: Iterable<number>): Generator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    if (from >= bytes.length) return;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

test("an event that a comment or name is glued to begins its block", () => {
  const event = '{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}';
  const usage = '{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}';
  const sent = `: busy\n\n: busy\nevent: x\ndata: ${event}\n\ndata:${usage}\n\n`;
  expect(relay([Buffer.from(sent)]).text).toBe(`data: ${event}\n\ndata:${usage}\n\n`);
});

test("a stream is cut unless every candidate has ended", () => {
  const begun = '{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}';
  expect(() => relay([Buffer.from(`data: ${begun}\n\n`)])).toThrow("cut");
});

test("usage that was not reported, or is impossible, is shown as it is billed", () => {
  const text = '{"candidates":[{"content":{"parts":[{"text":"one two three four"}]},"finishReason":"STOP"}]';
  const none = relay([Buffer.from(`data: ${text},"responseId":"r1"}\n\n`)]);
  const own = '{"promptTokenCount":3,"candidatesTokenCount":5,"totalTokenCount":8}';
  expect(none.text).toEndWith(
    `data: {"usageMetadata":${own},"modelVersion":"${PUBLIC}","responseId":"r1"}\n\n`,
  );
  const wrong = relay([Buffer.from(`data: ${text},"usageMetadata":{"promptTokenCount":-4,"x":1}}\n\n`)]);
  expect(wrong.text).toContain(
    '"usageMetadata":{"candidatesTokenCount":5,"totalTokenCount":8,"promptTokenCount":3,"x":1}',
  );
  expect([none.stream.usage().source, wrong.stream.usage().source]).toEqual(["estimated", "estimated"]);
});

test("an error before content lets another target take over, one after it ends the stream", () => {
  const failure = 'data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}\n\n';
  const content = 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n';
  const first = openStream(PUBLIC, policyFor(3));
  expect(() => first.push(Buffer.from(failure))).toThrow(UpstreamError);
  const later = openStream(PUBLIC, policyFor(3));
  expect(Buffer.from(later.push(Buffer.from(content))).toString()).toBe(content);
  expect(Buffer.from(later.push(Buffer.from(failure))).toString()).toBe("");
  expect(later.isDone).toBe(true);
  expect(() => later.end()).toThrow("UNAVAILABLE");
  const frame = Buffer.from(later.errorFrame(new GatewayError("overloaded", "Retry."))).toString();
  expect(frame).toStartWith('data: {"error":{"code":503,');
});
