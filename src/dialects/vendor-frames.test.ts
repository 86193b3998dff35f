import { expect, test } from "bun:test";
import { UpstreamError } from "../domain/upstream-error.ts";
import { Delivered } from "./conversation/delivered.ts";
import { parseVendorObject, VendorFrames } from "./vendor-frames.ts";

/** Reads pieces of a stream; what it is given up for, or null. */
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

test("an event of ten megabytes in pieces of a byte takes little more than its bytes", () => {
  const frames = new VendorFrames();
  const byte = Buffer.from("x");
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  for (let count = 0; count < 10_000_000; count += 1) frames.read(byte, true, () => {});
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(100);
});

test("what is nested deeper than requests may be is broken, whole and in a stream", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(parseVendorObject(nested(127))).toHaveProperty("a");
  expect(() => parseVendorObject(nested(128))).toThrow("has more than 128 levels");
});

test("the arguments of the calls of a reply may have a mebibyte in all", () => {
  const delivered = new Delivered(() => ({ unit: "token", tokens: {}, source: "upstream" }));
  const add = () => delivered.add({ type: "arguments", call: 0, text: "x".repeat(1024) });
  for (let count = 0; count < 1024; count += 1) add();
  expect(add).toThrow("too long arguments");
});
