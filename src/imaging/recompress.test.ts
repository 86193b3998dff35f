import { expect, test } from "bun:test";
import {
  exifSegment,
  makeBmp,
  makePng,
  pngChunk,
  pngHeader,
  pngOf,
  withSegments,
} from "../../test/support/pictures.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { changePixels } from "./pixels.ts";
import { recompress } from "./recompress.ts";
import { readImageHeader } from "./sniff.ts";

const slots = createSemaphore(2);

const noise = (x: number, y: number) => {
  const mixed = Math.imul((x * 6007 + y) ^ 0x9e3779b9, 0x85ebca6b);
  return (Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 26) + 90;
};

/** A picture with noise like a photograph, equal in each run. */
const grainy = makePng(600, 400, {
  pixel: (x, y) => [noise(x, y), noise(y, x + 7), (x ^ y) & 255, x < 300 ? 255 : 77],
});
const originals = {
  png: new Blob([grainy]),
  jpeg: await new Bun.Image(grainy).jpeg({ quality: 100 }).blob(),
  webp: await new Bun.Image(grainy).webp({ lossless: true }).blob(),
};

test.each(Object.entries(originals))(
  "a %s gets smaller and keeps format, size and transparency",
  async (_, image) => {
    // `isLossless` may differ, because a recompressed WebP is lossy.
    const { isLossless: _lossless, ...before } = await readImageHeader(image);
    const smaller = await recompress(image, slots);
    expect(smaller.size).toBeLessThan(image.size * 0.9);
    expect(await readImageHeader(smaller)).toEqual(before);
  },
);

test("a png's colours move by less than four and its transparency not at all", async () => {
  const pixels = async (image: Blob) => {
    const rows: Uint8Array[] = [];
    await changePixels(new Bun.Image(image), (row) => rows.push(row) < 0);
    return Buffer.concat(rows);
  };
  const [before, after] = [await pixels(originals.png), await pixels(await recompress(originals.png, slots))];
  const moved = before.map((value, index) => Math.abs(value - after[index]!));
  expect(Math.max(...moved.subarray(0, 4 * 600 * 20))).toBeWithin(1, 4);
  expect(moved.every((difference, index) => difference < (index % 4 === 3 ? 1 : 4))).toBe(true);
});

test("returns the original when the result is not smaller", async () => {
  const squeezed = await new Bun.Image(grainy).resize(2400).jpeg({ quality: 5 }).blob();
  expect(squeezed.size).toBeGreaterThan(64 * 1024);
  expect(await recompress(squeezed, slots)).toBe(squeezed);
});

test("returns small pictures and formats without an encoder unchanged", async () => {
  for (const bytes of [makePng(20, 20), makeBmp(300, 300)]) {
    const image = new Blob([bytes]);
    expect(await recompress(image, slots)).toBe(image);
  }
});

test("returns a picture that cannot be decoded, and releases the slot", async () => {
  const one = createSemaphore(1);
  const broken = pngOf([pngHeader(400, 400, 6), pngChunk("IDAT", Buffer.alloc(70_000))]);
  for (const bytes of [broken, Buffer.alloc(70_000)]) {
    const image = new Blob([bytes]);
    expect(await recompress(image, one)).toBe(image);
  }
});

test("keeps the rotation of a photograph", async () => {
  const jpeg = new Blob([withSegments(await originals.jpeg.bytes(), exifSegment(6))]);
  expect(await readImageHeader(jpeg)).toMatchObject({ width: 400, height: 600 });
  expect(await readImageHeader(await recompress(jpeg, slots))).toMatchObject({ width: 400, height: 600 });
});
