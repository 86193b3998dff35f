import { expect, test } from "bun:test";
import { detachBuffer } from "./detach-buffer.ts";

test("bytes with a buffer of their own are gone at once", () => {
  const bytes = new Uint8Array(1_000);
  detachBuffer(bytes);
  expect(bytes.byteLength).toBe(0);
});

test("a part of a buffer is left to the others who use it", () => {
  const whole = new Uint8Array(1_000).fill(7);
  detachBuffer(whole.subarray(0, 999));
  expect(whole).toEqual(new Uint8Array(1_000).fill(7));
});
