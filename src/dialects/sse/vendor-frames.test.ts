import { expect, test } from "bun:test";
import { join } from "node:path";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { Delivered, TranslatedStream } from "../conversation/translated-stream.ts";
import type { ReplyEvent, ReplyReader, ReplyWriter } from "../conversation/reply.ts";
import type { Signature } from "../conversation/signature.ts";
import { parseVendorObject, VendorFrames } from "./vendor-frames.ts";

/** Reads the pieces of a stream. Returns the problem that stopped the reader, or null. */
function problemOf(pieces: readonly string[], isCommitted: boolean): string | null {
  const frames = new VendorFrames();
  try {
    for (const piece of pieces) frames.read(Buffer.from(piece), isCommitted, () => {});
    return null;
  } catch (error) {
    return error instanceof UpstreamError ? `${error.kind}: ${error.message}` : String(error);
  }
}

test("a stream may have ten thousand events before its first content", () => {
  const events = (count: number) => Array.from({ length: count }, () => "data: {}\n\n");
  expect(problemOf(events(10_000), false)).toBeNull();
  expect(problemOf(events(10_001), false)).toBe("broken: a stream without content");
  expect(problemOf(events(10_001), true)).toBeNull();
});

test("an event may have a hundred thousand lines", () => {
  const lines = (count: number) => Array.from({ length: count / 100 }, () => "data:\n".repeat(100));
  expect(problemOf(lines(100_000), true)).toBeNull();
  expect(problemOf(lines(100_100), true)).toBe("broken: an endless event");
});

test("an event of ten megabytes in pieces of a byte takes little more than its bytes", async () => {
  const program = `
    import { VendorFrames } from ${JSON.stringify(join(import.meta.dir, "vendor-frames.ts"))};
    const frames = new VendorFrames();
    const byte = Buffer.from("x");
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 10_000_000; count += 1) frames.read(byte, true, () => {});
    console.log((process.memoryUsage().rss - before) / 2 ** 20);
  `;
  // The program runs in a separate process, so that the heap of other tests is not measured.
  const child = Bun.spawn([process.execPath, "-e", program], { timeout: 25_000 });
  const grownMiB = Number(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(grownMiB).toBeGreaterThan(0);
  expect(grownMiB).toBeLessThan(100);
});

test("what is nested deeper than requests may be is broken, whole and in a stream", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(parseVendorObject(nested(127))).toHaveProperty("a");
  expect(() => parseVendorObject(nested(128))).toThrow("has more than 128 levels");
});

const MIB = 1024 * 1024;
const ITEMS = 10_000;
const piece = "x".repeat(MIB);
const signature: Signature = { dialect: "chat", value: "" };

test.each<[what: string, most: number, problem: string, events: ReplyEvent[]]>([
  ["arguments", 1, "too long arguments", [{ type: "arguments", call: 0, text: piece }]],
  ["text", 8, "too much text", [{ type: "text", text: piece }]],
  ["reasoning", 8, "too much text", [{ type: "reasoning", text: piece }]],
  ["refusals", 8, "too much text", [{ type: "refusal", text: piece }]],
  ["names", 8, "too much text", [{ type: "call", call: 0, id: "", name: piece, kind: "function" }]],
  ["signatures", 8, "too much text", [{ type: "signature", signature: { ...signature, value: piece } }]],
  ["calls", ITEMS, "too many items", [{ type: "call", call: 0, id: "", name: "f", kind: "function" }]],
  ["signed pieces", ITEMS, "too many items", [{ type: "signature", signature }]],
  [
    "turns of text and reasoning",
    ITEMS / 2,
    "too many items",
    [
      { type: "text", text: "x" },
      { type: "reasoning", text: "x" },
    ],
  ],
])("a translated reply has a bound of %s", (_, most, problem, events) => {
  const delivered = new Delivered(() => ({ unit: "token", tokens: {}, source: "upstream" }));
  const add = () => events.forEach((event) => delivered.add(event));
  for (let count = 0; count < most; count += 1) add();
  expect(add).toThrow(problem);
});

test("a translated stream ends where its reader would keep it without an end", () => {
  const reader: ReplyReader = { isDone: false, isComplete: false, read: () => [] };
  const writer: ReplyWriter = { write: () => "", end: () => "", fail: () => "" };
  const stream = new TranslatedStream(reader, writer, () => ({
    unit: "token",
    tokens: {},
    source: "upstream",
  }));
  const chunk = Buffer.from(`data: ${piece.slice(8)}\n\n`);
  for (let count = 0; count < 128; count += 1) stream.push(chunk);
  expect(() => stream.push(chunk)).toThrow("endless stream");
});
