import { rm } from "node:fs/promises";
import { expect, test } from "bun:test";
import { testSpool } from "../../test/support/spool.ts";
import { BlobReader } from "./sliced-stream.ts";

const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index & 255));

async function spooled(): Promise<{ blob: Blob; path: string }> {
  const file = testSpool.create();
  file.write(bytes);
  return { blob: await file.finish("image/png"), path: file.path };
}

/** Reads the whole blob in pieces of 300 bytes. */
async function readAll(blob: Blob): Promise<Buffer> {
  using reader = new BlobReader(blob, 300);
  const pieces: Buffer[] = [];
  for (let start = 0; start < reader.size; start += 300) pieces.push(Buffer.from(await reader.read(start)));
  return Buffer.concat(pieces);
}

test("a spool's file, a part of it and a blob in memory are read whole", async () => {
  const { blob } = await spooled();
  expect((await readAll(blob)).equals(bytes)).toBe(true);
  expect((await readAll(blob.slice(10, 700))).equals(bytes.subarray(10, 700))).toBe(true);
  expect((await readAll(new Blob([bytes]))).equals(bytes)).toBe(true);
  expect(await readAll(new Blob([]))).toBeEmpty();
});

test("the pieces of a spool's file share their memory, which is free afterwards", async () => {
  const reader = new BlobReader((await spooled()).blob, 300);
  const first = await reader.read(0);
  const second = await reader.read(300);
  expect(second.buffer).toBe(first.buffer);
  expect(first[0]).toBe(300 & 255);
  reader[Symbol.dispose]();
  expect(second.buffer.detached).toBe(true);
});

test("a file that was opened can be read to its end though it is removed, and not opened again", async () => {
  const { blob, path } = await spooled();
  using reader = new BlobReader(blob, 300);
  await reader.read(0);
  await rm(path);
  expect(Buffer.from(await reader.read(300)).equals(bytes.subarray(300, 600))).toBe(true);
  await expect(readAll(blob)).rejects.toThrow();
});
