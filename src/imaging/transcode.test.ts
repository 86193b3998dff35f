import { deflateSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import { makeGif, makePng, pngChunk, pngHeader, pngOf } from "../../test/support/pictures.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { UnreadableImageError } from "./header-reader.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";
import { transcode } from "./transcode.ts";

const slots = createSemaphore(2);
const opaque = new Blob([makePng(64, 48)]);
const half = new Blob([makePng(64, 48, { pixel: (x) => (x < 32 ? [200, 0, 0, 0] : [0, 0, 200, 128]) })]);

/** Returns the decoded colour of one pixel. */
async function pixelAt(image: Blob, x: number, y: number): Promise<number[]> {
  const rows: number[][] = [];
  await changePixels(new Bun.Image(image), (row) => {
    rows.push([...row]);
    return false;
  });
  return rows[y]!.slice(x * 4, x * 4 + 4);
}

/** Expects equal colours, except for compression losses. */
function expectNear(actual: number[], wanted: number[]): void {
  expect(Math.max(...actual.map((value, index) => Math.abs(value - wanted[index]!)))).toBeLessThanOrEqual(4);
}

describe("transcoding", () => {
  test.each(["png", "jpeg", "webp"] as const)("to %s gives that format in the same size", async (format) => {
    const made = await transcode(opaque, format, { slots });
    expect(await readImageHeader(made)).toMatchObject({ format, width: 64, height: 48 });
  });

  test("returns a picture of the same format unchanged", async () => {
    const jpeg = await transcode(opaque, "jpeg", { slots });
    expect(await transcode(jpeg, "jpeg", { slots })).toBe(jpeg);
    expect(await transcode(opaque, "png", { slots, compression: 10 })).toBe(opaque);
  });

  test("uses compression as the codec's quality for jpeg and webp, also in the same format", async () => {
    const large = new Blob([makePng(300, 300)]);
    for (const format of ["jpeg", "webp"] as const) {
      const sizes = await Promise.all(
        [0, 50, 100, undefined].map(async (compression) => {
          return (await transcode(large, format, { compression, slots })).size;
        }),
      );
      const [least, middle, most, absent] = sizes as [number, number, number, number];
      expect(least).toBeLessThan(middle);
      expect(middle).toBeLessThan(most);
      expect(absent).toBe(most);
      const again = await transcode(await transcode(large, format, { slots }), format, {
        compression: 20,
        slots,
      });
      expect(again.size).toBeLessThan(most);
    }
  });

  test("makes transparency white for jpeg", async () => {
    const made = await transcode(half, "jpeg", { slots });
    expectNear(await pixelAt(made, 8, 24), [255, 255, 255, 255]);
    expectNear(await pixelAt(made, 56, 24), [127, 127, 227, 255]);
  });

  test("makes the transparency of a webp white for jpeg", async () => {
    const made = await transcode(await transcode(half, "webp", { slots }), "jpeg", { slots });
    expectNear(await pixelAt(made, 8, 24), [255, 255, 255, 255]);
  });

  test("keeps transparency for webp and png", async () => {
    const webp = await transcode(half, "webp", { slots });
    expect((await pixelAt(webp, 8, 24))[3]).toBe(0);
    expectNear(await pixelAt(webp, 56, 24), [0, 0, 200, 128]);
    const png = await transcode(webp, "png", { slots });
    expect((await pixelAt(png, 8, 24))[3]).toBe(0);
  });

  test("an opaque picture with an alpha channel looks the same as jpeg", async () => {
    const flat = new Blob([makePng(64, 48, { pixel: () => [10, 120, 240, 255] })]);
    expectNear(await pixelAt(await transcode(flat, "jpeg", { slots }), 5, 5), [10, 120, 240, 255]);
  });

  test("throws UnreadableImageError for what cannot be decoded, and releases the slot", async () => {
    const one = createSemaphore(1);
    const headerOnly = pngOf([pngHeader(9, 9, 6), pngChunk("IDAT", Buffer.alloc(9))]);
    for (const bytes of [
      headerOnly,
      Buffer.from("no picture at all"),
      pngOf([pngHeader(16_000, 16_000, 6), pngChunk("IDAT", Buffer.alloc(9))]),
    ])
      expect(
        await transcode(new Blob([bytes]), "jpeg", { slots: one }).catch((error: unknown) => error),
      ).toBeInstanceOf(UnreadableImageError);
    expect((await transcode(new Blob([makeGif(9, 9, 1)]), "png", { slots: one })).size).toBeGreaterThan(0);
  });

  test("refuses a colour profile that would grow without bound", async () => {
    const profile = Buffer.concat([Buffer.from("a\0\0"), deflateSync(Buffer.alloc(100_000_000))]);
    const bomb = new Blob([makePng(64, 64, { chunks: [pngChunk("iCCP", profile)] })]);
    const before = process.memoryUsage.rss();
    const outcome = await transcode(bomb, "webp", { slots }).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(UnreadableImageError);
    expect(process.memoryUsage.rss() - before).toBeLessThan(40_000_000);
  });

  test("an aborted caller waits for nothing", () => {
    expect(transcode(opaque, "jpeg", { slots, signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

test("a large picture does not block the event loop", async () => {
  const large = new Blob([makePng(1500, 1500, { pixel: (x, y) => [x & 255, y & 255, 0, 100] })]);
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await transcode(large, "jpeg", { slots });
  clearInterval(timer);
  expect(longest).toBeLessThan(250);
});
