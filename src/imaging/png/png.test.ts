import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { exifData, makePng, type Pixel, pngChunk, pngHeader, pngOf } from "../../../test/support/pictures.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Orientation } from "../header-reader.ts";
import { recompress } from "../recompress.ts";
import { readReference } from "../reference.ts";
import { transcode } from "../transcode.ts";
import { readChunks } from "./chunks.ts";
import { encodePng, MAX_PNG_PIXELS, type PngWork } from "./index.ts";

const slots = createSemaphore(2);

/** All pairs of colour type and depth, each with its number of channels. */
const FORMS = [
  ...[1, 2, 4, 8, 16].map((depth) => [0, depth, 1] as const),
  ...[8, 16].map((depth) => [2, depth, 3] as const),
  ...[1, 2, 4, 8].map((depth) => [3, depth, 1] as const),
  ...[8, 16].map((depth) => [4, depth, 2] as const),
  ...[8, 16].map((depth) => [6, depth, 4] as const),
];
const ORIENTATIONS = [2, 3, 4, 5, 6, 7, 8] as const;
const [WIDTH, HEIGHT] = [13, 7];

/** Makes a PNG of random samples, without filters. */
function anyPng(
  [colourType, depth, channels]: (typeof FORMS)[number],
  { width = WIDTH, height = HEIGHT, chunks = [] as Buffer[] } = {},
): Buffer<ArrayBuffer> {
  let state = 1;
  const random = () => (state = Math.imul(state, 1_103_515_245) + 12_345) >>> 24;
  const stride = 1 + Math.ceil((width * channels * depth) / 8);
  const rows = Buffer.from(Array.from({ length: stride * height }, (_, at) => (at % stride ? random() : 0)));
  const palette = Buffer.from(Array.from({ length: 3 * 2 ** depth }, random));
  return pngOf([
    pngHeader(width, height, colourType, depth),
    ...(colourType === 3 ? [pngChunk("PLTE", palette), pngChunk("tRNS", Buffer.from([0, 99]))] : []),
    ...chunks,
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns the colour type and depth. */
function formOf(png: Uint8Array): [colourType: number, depth: number] {
  const header = Buffer.from(readChunks(png)[0]!.data);
  return [header[9]!, header[8]!];
}

/** Returns the pixels in four channels of 16 bits, as `sharp` decodes them. */
async function samplesOf(picture: Sharp): Promise<string> {
  const raw = picture.toColourspace("rgb16").ensureAlpha().raw({ depth: "ushort" });
  const { data, info } = await raw.toBuffer({ resolveWithObject: true });
  return `${info.width}x${info.height} ${data.toString("hex")}`;
}

/** Calls of `sharp` that make a picture upright, by orientation. `sharp` mirrors before it rotates. */
const TURNS: Readonly<Record<Orientation, (picture: Sharp) => Sharp>> = {
  2: (picture) => picture.flop(),
  3: (picture) => picture.rotate(180),
  4: (picture) => picture.flip(),
  5: (picture) => picture.flop().rotate(270),
  6: (picture) => picture.rotate(90),
  7: (picture) => picture.flop().rotate(90),
  8: (picture) => picture.rotate(270),
};

async function encoded(png: Buffer<ArrayBuffer>, work: PngWork): Promise<Uint8Array> {
  return await (await encodePng(new Uint8Array(png), work)).bytes();
}

describe.each(FORMS)("a turned PNG of colour type %i with %i bits", (...form) => {
  test("keeps them and each sample, with each orientation", async () => {
    const png = anyPng(form);
    const outcomes = await Promise.all(
      ORIENTATIONS.map(async (orientation) => {
        const turned = await encoded(png, { kind: "turn", orientation });
        expect(formOf(turned)).toEqual([form[0], form[1]]);
        return [await samplesOf(sharp(turned)), await samplesOf(TURNS[orientation](sharp(png)))];
      }),
    );
    for (const [turned, expected] of outcomes) expect(turned).toBe(expected!);
  });

  test("reaches the vendor with them", async () => {
    const blob = new Blob([anyPng(form, { chunks: [pngChunk("eXIf", exifData(6))] })]);
    const reference = await readReference(blob, { param: "image", name: "The image", slots });
    expect(reference).toMatchObject({ format: "png", width: HEIGHT, height: WIDTH });
    expect(formOf(await reference.blob.bytes())).toEqual([form[0], form[1]]);
  });
});

test.each([
  [2, 8],
  [6, 8],
  [0, 8],
  [2, 16],
])("an interlaced PNG with filters, of colour type %i with %i bits, is turned", async (colourType, depth) => {
  const form = FORMS.find((each) => each[0] === colourType && each[1] === depth)!;
  const space = { 0: depth === 16 ? "grey16" : "b-w", 2: depth === 16 ? "rgb16" : "srgb", 6: "srgb" }[
    colourType
  ];
  const source = sharp(anyPng(form, { width: 37, height: 21 })).toColourspace(space!);
  const png = Buffer.from(await source.png({ progressive: true, adaptiveFiltering: true }).toBuffer());
  expect([formOf(png), readChunks(png)[0]!.data[12]]).toEqual([[colourType, depth], 1]);
  const turned = await encoded(png, { kind: "turn", orientation: 5 });
  expect(await samplesOf(sharp(turned))).toBe(await samplesOf(TURNS[5](sharp(png))));
});

const flat = (values: readonly number[]): Pixel => {
  return (x, y) => {
    const value = values[(x + y) % values.length]!;
    return [value, value, value, 255];
  };
};
const many: Pixel = (x, y) => [x * 6, y * 9, (x + y) & 255, 255];

test.each<[what: string, pixel: Pixel, hasAlpha: boolean, form: [number, number]]>([
  ["colours", many, false, [2, 8]],
  ["colours with unused alpha", many, true, [6, 8]],
  ["colours with alpha", (x, y) => [x * 6, y * 9, 7, x * 6], false, [6, 8]],
  ["black and white", flat([0, 255]), false, [0, 1]],
  ["four greys", flat([0, 85, 170, 255]), false, [0, 2]],
  ["sixteen greys", flat([0, 17, 34, 255]), false, [0, 4]],
  ["greys", flat([1, 2, 3]), false, [0, 8]],
  ["greys with alpha", (x, y) => [x * 6, x * 6, x * 6, y * 9], true, [4, 8]],
  ["two colours", (x) => [x % 2 ? 200 : 10, 0, 0, 255], false, [3, 1]],
  ["three colours with alpha", (x) => [(x % 3) * 40, 9, 0, (x % 3) * 100], true, [3, 2]],
  ["200 colours", (x, y) => [((x + 40 * y) % 200) + 5, 1, 2, 255], false, [3, 8]],
])("%s are stored in no more channels and bits than they need", async (_, pixel, hasAlpha, form) => {
  const png = makePng(40, 27, { pixel });
  const reduced = await encoded(png, { kind: "reduce", hasAlpha });
  expect(formOf(reduced)).toEqual(form);
  expect(await samplesOf(sharp(reduced))).toBe(await samplesOf(sharp(png)));
});

test("a grey picture with a colour profile stays in its colours", async () => {
  const profile = Buffer.concat([Buffer.from("a\0\0"), deflateSync(Buffer.from("a profile"))]);
  const png = makePng(40, 27, {
    pixel: (x, y) => [x + 40 * (y % 7), x + 40 * (y % 7), x + 40 * (y % 7), 255],
    chunks: [pngChunk("iCCP", profile)],
  });
  expect(formOf(await encoded(png, { kind: "reduce", hasAlpha: false }))[0]).not.toBe(0);
});

/** Text with a shadow on a flat ground, as in a screenshot. */
const screenshot: Pixel = (x, y) => {
  if (y < 40) return [30 + (y >> 1), 60, 90 + (x >> 3), 255];
  const isInk = (x * 7 + y * 13) % 29 < 4 && y % 18 < 11 && x % 300 < 220;
  return isInk ? [20, 20, 30, 255] : [250, 250, 252, 255];
};

test.each<[string, Pixel]>([
  ["screenshot", screenshot],
  ["gradient", (x, y) => [x & 255, y & 255, (x + y) & 255, 255]],
])("a %s becomes no larger than by the built-in codec", async (_, pixel) => {
  const jpeg = await new Bun.Image(makePng(900, 600, { pixel })).jpeg({ quality: 95 }).blob();
  const builtIn = await new Bun.Image(jpeg).png().blob();
  const made = await transcode(jpeg, "png", { slots });
  expect(formOf(await made.bytes())).toEqual([2, 8]);
  expect(made.size).toBeLessThan(builtIn.size);
});

test("a compressed reference keeps its channels, and one that would lose depth or palette is left alone", async () => {
  const size = { width: 300, height: 250 };
  for (const form of FORMS) {
    const [colourType, depth, channels] = form;
    // The pixels are random. Of these forms, only 16-bit grey with alpha counts as noise, which `recompress` returns
    // unchanged. It returns the other forms unchanged because of their depth or palette.
    const noise = new Blob([anyPng(form, size)]);
    if (depth === 8 && colourType !== 3) continue;
    if (channels * depth < 8) continue;
    expect(await recompress(noise, slots)).toBe(noise);
  }
  const grey = sharp(makePng(700, 500, { pixel: (x, y) => [(x * y) & 255, 0, 0, 255] })).extractChannel(0);
  const pictures = [
    [new Blob([await grey.png().toBuffer()]), [0, 8]],
    [
      new Blob([makePng(700, 500, { pixel: (x, y) => [(x * y) & 255, x & y, x | y, 255], hasAlpha: false })]),
      [2, 8],
    ],
  ] as const;
  for (const [picture, form] of pictures) {
    const smaller = await recompress(picture, slots);
    expect(smaller.size).toBeLessThan(picture.size);
    expect(formOf(await smaller.bytes())).toEqual([...form]);
  }
});

test("a picture with more pixels goes through the built-in codec, which needs less memory", async () => {
  const width = MAX_PNG_PIXELS / 4_096 + 1;
  const large = pngOf([
    pngHeader(width, 4_096, 0),
    pngChunk("eXIf", exifData(3)),
    pngChunk("IDAT", deflateSync(Buffer.alloc(4_096 * (1 + width)))),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
  const { blob } = await readReference(new Blob([large]), { param: "image", name: "The image", slots });
  expect(formOf(await blob.bytes())).toEqual([6, 8]);
  const jpeg = await new Bun.Image(large).jpeg({ quality: 1 }).blob();
  expect(formOf(await (await transcode(jpeg, "png", { slots })).bytes())).toEqual([6, 8]);
});

test("data that is cut, or has a filter that does not exist, is damaged", async () => {
  const rows = (filter: number, length: number) =>
    pngOf([
      pngHeader(9, 9, 0),
      pngChunk("IDAT", deflateSync(Buffer.alloc(length, filter))),
      pngChunk("IEND", Buffer.alloc(0)),
    ]);
  const turned = (png: Buffer<ArrayBuffer>) => encoded(png, { kind: "turn", orientation: 3 });
  expect(formOf(await turned(rows(0, 90)))).toEqual([0, 8]);
  expect(turned(rows(0, 89))).rejects.toThrow("cannot be decoded");
  expect(turned(rows(5, 90))).rejects.toThrow("cannot be decoded");
  expect(turned(rows(0, 2_000_000))).rejects.toThrow("cannot be decoded");
});
