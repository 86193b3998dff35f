import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import {
  AVIF,
  BMP_RLE,
  CMYK_JPEG,
  HEIC,
  HEIC_WITH_ALPHA,
  TIFF_LZW,
} from "../../test/support/encoded-pictures.table.ts";
import {
  exifData,
  makeBmp,
  makeGif,
  makePng,
  pngChunk,
  pngHeader,
  pngOf,
  webpWithExif,
} from "../../test/support/pictures.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { openPicture } from "./codec.ts";
import { changePixels } from "./pixels.ts";
import { recompress } from "./recompress.ts";
import { readReference } from "./reference.ts";
import { readImageHeader } from "./sniff.ts";

const slots = createSemaphore(2);
const read = (bytes: Uint8Array) =>
  readReference(new Blob([new Uint8Array(bytes)]), { param: "image", name: "Image 3 of 16", slots });

/** Returns the colours near both ends of the middle row. Each channel is divided by 16 and rounded. */
async function sides(image: Blob): Promise<number[][]> {
  const rows: number[][] = [];
  await changePixels(
    await openPicture(image, await readImageHeader(image)),
    (row) => rows.push([...row]) < 0,
  );
  const middle = rows[rows.length >> 1]!;
  return [middle.slice(40, 44), middle.slice(-44, -40)].map((side) =>
    side.map((value) => Math.round(value / 16)),
  );
}

const RED = [13, 2, 2, 16];
const BLUE = [2, 2, 13, 16];

const turned = webpWithExif(
  await new Bun.Image(makePng(40, 20)).webp({ lossless: true }).bytes(),
  40,
  20,
  exifData(6),
);

describe("a picture that models may not read is encoded anew", () => {
  test.each([
    ["HEIC", HEIC, "jpeg"],
    ["AVIF", AVIF, "jpeg"],
    ["TIFF", TIFF_LZW, "png"],
    ["BMP of runs", BMP_RLE, "png"],
  ] as const)("%s", async (_, bytes, format) => {
    const { blob, ...found } = await read(bytes);
    expect(found).toEqual({ format, width: 96, height: 64 });
    expect(await readImageHeader(blob)).toMatchObject(found);
    expect(await sides(blob)).toEqual([RED, BLUE]);
  });

  test("JPEG of inks, in colours of a screen", async () => {
    const { blob, format } = await read(CMYK_JPEG);
    expect([format, (await readImageHeader(blob)).isUnusual]).toEqual(["jpeg", undefined]);
    const [[red = 0] = [], [, , blue = 0] = []] = await sides(blob);
    expect([red > 10, blue > 10]).toEqual([true, true]);
  });

  test("HEIC with transparency, which it keeps", async () => {
    const { blob, format } = await read(HEIC_WITH_ALPHA);
    expect([format, (await readImageHeader(blob)).hasAlpha]).toEqual(["png", true]);
    expect((await sides(blob))[0]![3]).toBeWithin(6, 10);
  });

  test.each([
    ["PNG", makePng(40, 20, { chunks: [pngChunk("eXIf", exifData(6))] }), "png"],
    ["WebP", turned, "webp"],
  ] as const)("%s turned by Exif, upright", async (_, bytes, wanted) => {
    const { blob, format, width, height } = await read(bytes);
    expect([format, width, height]).toEqual([wanted, 20, 40]);
    expect(await new Bun.Image(blob).metadata()).toMatchObject({ width: 20, height: 40 });
  });
});

describe("a turned WebP stays one and does not grow", () => {
  const soft = (x: number, y: number) =>
    [128 + 90 * Math.sin(x / 17), 128 + 90 * Math.sin(y / 23), (x + y) & 255, 255] as const;
  const photograph = makePng(640, 428, { pixel: soft });
  const turnedBy = async (webp: Promise<Uint8Array>) => webpWithExif(await webp, 640, 428, exifData(6));

  test.each([50, 75, 90])("of quality %i, compressed or not", async (quality) => {
    const bytes = await turnedBy(new Bun.Image(photograph).webp({ quality }).bytes());
    const { blob, ...found } = await read(bytes);
    expect(found).toEqual({ format: "webp", width: 428, height: 640 });
    expect((await readImageHeader(blob)).isLossless).toBeUndefined();
    expect(blob.size).toBeLessThanOrEqual(bytes.length);
    expect((await recompress(blob, slots)).size).toBeLessThanOrEqual(bytes.length);
  });

  test("without loss, which it stays", async () => {
    const bytes = await turnedBy(new Bun.Image(photograph).webp({ lossless: true }).bytes());
    const { blob } = await read(bytes);
    expect(await readImageHeader(blob)).toMatchObject({ isLossless: true, width: 428, height: 640 });
    const [ours, original] = await Promise.all(
      [blob, new Blob([photograph])].map(async (picture) => {
        const rows: number[][] = [];
        await changePixels(
          await openPicture(picture, await readImageHeader(picture)),
          (row) => rows.push([...row]) < 0,
        );
        return rows;
      }),
    );
    // After a clockwise turn of 90 degrees, the first row is the original's first column, read from bottom to top.
    expect(ours![0]).toEqual(original!.toReversed().flatMap((row) => row.slice(0, 4)));
  });
});

test.each([
  ["PNG", makePng(40, 20)],
  ["JPEG", await new Bun.Image(makePng(40, 20)).jpeg().bytes()],
  ["WebP", await new Bun.Image(makePng(40, 20)).webp().bytes()],
  ["GIF", makeGif(40, 20, 1)],
  ["BMP of 24 bits", makeBmp(40, 20)],
])("a %s stays as it came", async (_, bytes) => {
  const { blob } = await read(bytes);
  expect(Buffer.from(await blob.bytes()).equals(Buffer.from(bytes))).toBe(true);
});

const noise = makePng(120, 80, { pixel: (x, y) => [(x * y * 7) & 255, (x * x) & 255, (y * 31) & 255, 255] });
const progressive = await new Bun.Image(noise).jpeg({ progressive: true }).bytes();

test.each([
  ["PNG", noise],
  ["JPEG", await new Bun.Image(noise).jpeg().bytes()],
  ["progressive JPEG", progressive],
  ["WebP", await new Bun.Image(noise).webp().bytes()],
  ["GIF", makeGif(900, 900, 1)],
  ["BMP", makeBmp(90, 90)],
  ["JPEG of inks", CMYK_JPEG],
])("a cut %s is refused by its number, wherever it is cut", async (_, bytes) => {
  for (let part = 1; part < 20; part += 1) {
    const cut = Buffer.from(bytes.subarray(0, Math.floor((bytes.length * part) / 20)));
    const error = await read(cut).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "invalid_image", status: 400, param: "image" });
    expect((error as Error).message).toStartWith("Image 3 of 16 ");
  }
});

test("a PNG whose pixels end early is refused though its checksums are right", async () => {
  const packed = deflateSync(crypto.getRandomValues(new Uint8Array(60_100)), { level: 0 });
  const chunks = [pngHeader(200, 200, 2), pngChunk("IDAT", packed), pngChunk("IEND", Buffer.alloc(0))];
  expect(await read(pngOf(chunks)).catch((error: unknown) => error)).toMatchObject({
    code: "invalid_image",
    message: expect.stringContaining("Image 3 of 16"),
  });
});

test.each([
  ["HEIC", HEIC],
  ["AVIF", AVIF],
  ["TIFF", TIFF_LZW],
  ["BMP of runs", BMP_RLE],
])("a cut %s is refused, and its slot released", async (_, bytes) => {
  const one = createSemaphore(1);
  for (const share of [0.55, 0.9]) {
    const blob = new Blob([bytes.subarray(0, Math.floor(bytes.length * share))]);
    const outcome = readReference(blob, { param: "image", name: "The image", slots: one });
    expect(await outcome.catch((error: unknown) => error)).toMatchObject({ code: "invalid_image" });
  }
});

test("an aborted request ends the decoding", async () => {
  const abort = new AbortController();
  const blob = new Blob([HEIC]);
  const outcome = readReference(blob, { param: "image", name: "The image", slots, signal: abort.signal });
  setTimeout(() => abort.abort(new Error("gone")), 20);
  expect(await outcome.catch((error: unknown) => error)).toMatchObject({ message: "gone" });
});
