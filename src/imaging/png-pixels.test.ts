import { expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { pngChunk, pngHeader, pngOf } from "../../test/support/pictures.ts";
import { hasAllPixels } from "./png-pixels.ts";

const SIDE = 900;

/** Rows of colour in noise, which take more than one batch, each with its filter. */
function rowsOf(rowBytes: number, filter = 0): Buffer {
  const rows = Buffer.alloc((rowBytes + 1) * SIDE, crypto.getRandomValues(new Uint8Array(65_521)));
  for (let at = 0; at < rows.length; at += rowBytes + 1) rows[at] = filter;
  return rows;
}

function pictureOf(
  packed: Buffer,
  { colourType = 2, depth = 8, chunkBytes = packed.length, extra = Array<Buffer>() } = {},
): Blob {
  const pieces = Array.from({ length: Math.ceil(packed.length / chunkBytes) }, (_, index) =>
    pngChunk("IDAT", packed.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
  );
  const header = pngHeader(SIDE, SIDE, colourType, depth);
  return new Blob([pngOf([header, ...extra, ...pieces, pngChunk("IEND", Buffer.alloc(0))])]);
}

const rows = rowsOf(SIDE * 3);
const packed = deflateSync(rows, { level: 1 });

test.each([
  [0, 1, Math.ceil(SIDE / 8)],
  [0, 16, SIDE * 2],
  [2, 8, SIDE * 3],
  [4, 8, SIDE * 2],
  [6, 16, SIDE * 8],
])("a picture of colour type %d and depth %d is whole", async (colourType, depth, rowBytes) => {
  const bytes = deflateSync(rowsOf(rowBytes, 4), { level: 1 });
  expect(await hasAllPixels(pictureOf(bytes, { colourType, depth }))).toBe(true);
});

test("pixels in chunks of any size are whole, beside text", async () => {
  const extra = [pngChunk("tEXt", Buffer.from("Title\0x"))];
  for (const chunkBytes of [1_000, 8_192, 524_288])
    expect(await hasAllPixels(pictureOf(packed, { chunkBytes, extra }))).toBe(true);
});

test.each([
  ["cut", packed.subarray(0, -6)],
  ["without its checksum", packed.subarray(0, -4)],
  ["with a wrong checksum", Buffer.concat([packed.subarray(0, -4), Buffer.alloc(4)])],
  ["damaged", Buffer.from(packed).fill(255, 100_000, 100_100)],
  ["no packed data", Buffer.alloc(1_000, 7)],
  ["a row short", deflateSync(rows.subarray(0, -(SIDE * 3 + 1)))],
  ["a byte longer", deflateSync(Buffer.concat([rows, Buffer.alloc(1)]))],
  ["far longer", deflateSync(Buffer.alloc(200_000_000), { level: 1 })],
  ["in an unknown filter", deflateSync(rowsOf(SIDE * 3, 5))],
  ["absent", Buffer.alloc(0)],
  ["followed by a byte", Buffer.concat([packed, Buffer.alloc(1)])],
  ["followed by many bytes", Buffer.concat([packed, Buffer.alloc(2_000_000, 7)])],
  ["followed by other packed data", Buffer.concat([packed, packed])],
])("pixels that are %s are not settled", async (_, bytes) => {
  expect(await hasAllPixels(pictureOf(bytes))).toBe(false);
});

test("palettes and colour profiles are not settled", async () => {
  const profile = [pngChunk("iCCP", Buffer.alloc(100))];
  expect(await hasAllPixels(pictureOf(packed, { extra: profile }))).toBe(false);
  const palette = [pngChunk("PLTE", Buffer.alloc(768))];
  const indexes = deflateSync(rowsOf(SIDE));
  expect(await hasAllPixels(pictureOf(indexes, { colourType: 3, extra: palette }))).toBe(false);
});

test.each([1, 1_000, 100_000])(
  "bytes behind the pixels in chunks of %d end the unpacking",
  async (chunkBytes) => {
    const few = deflateSync(rows);
    const behind = Buffer.alloc(chunkBytes * 20, 7);
    const chunks = Array.from({ length: 20 }, (_, index) =>
      pngChunk("IDAT", behind.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
    );
    const end = pngChunk("IEND", Buffer.alloc(0));
    const picture = new Blob([pngOf([pngHeader(SIDE, SIDE, 2), pngChunk("IDAT", few), ...chunks, end])]);
    expect(await hasAllPixels(picture)).toBe(false);
  },
);

test("pixels on both sides of another chunk are not settled, nor are unknown chunks and methods", async () => {
  const [head, tail] = [packed.subarray(0, 100_000), packed.subarray(100_000)];
  const text = pngChunk("tEXt", Buffer.from("Title\0x"));
  const end = pngChunk("IEND", Buffer.alloc(0));
  const header = pngHeader(SIDE, SIDE, 2);
  const parted = [header, pngChunk("IDAT", head), text, pngChunk("IDAT", tail), end];
  expect(await hasAllPixels(new Blob([pngOf(parted)]))).toBe(false);
  expect(await hasAllPixels(pictureOf(packed, { extra: [pngChunk("NEED", Buffer.alloc(4))] }))).toBe(false);
  for (const [at, value] of [
    [8, 4],
    [9, 5],
    [10, 1],
    [11, 1],
    [12, 1],
  ] as const) {
    const data = Buffer.from(header.subarray(8, 21));
    data[at] = value;
    const picture = pngOf([pngChunk("IHDR", data), pngChunk("IDAT", packed), end]);
    expect(await hasAllPixels(new Blob([picture]))).toBe(false);
  }
});

test("an aborted request ends the unpacking", async () => {
  const reason = new Error("gone");
  await expect(hasAllPixels(pictureOf(packed), AbortSignal.abort(reason))).rejects.toBe(reason);
});
