import { expect, test } from "bun:test";
import { detachBuffer } from "./detach-buffer.ts";

test("detaches bytes that own their buffer", () => {
  const bytes = new Uint8Array(1_000);
  detachBuffer(bytes);
  expect(bytes.byteLength).toBe(0);
});

test("leaves a part of a larger buffer alone", () => {
  const whole = new Uint8Array(1_000).fill(7);
  detachBuffer(whole.subarray(0, 999));
  expect(whole).toEqual(new Uint8Array(1_000).fill(7));
});
