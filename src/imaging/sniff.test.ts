import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  exifSegment,
  jpegSegment,
  makeBmp,
  makeExtendedWebp,
  makeGif,
  makeHeif,
  makePng,
  makeTiff,
  pngChunk,
  pngHeader,
  pngOf,
  WatchedBlob,
  withSegments,
} from "../../test/support/pictures.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { readImageHeader, sniffImage } from "./sniff.ts";

const opaque = makePng(40, 20, { hasAlpha: false });
const seeThrough = makePng(40, 20, { pixel: (x, y) => [x, y, 0, x * 5] });
const jpeg = await new Bun.Image(opaque).jpeg().bytes();
const progressive = await new Bun.Image(opaque).jpeg({ progressive: true }).bytes();
const webp = {
  lossy: await new Bun.Image(opaque).webp({ quality: 80 }).bytes(),
  lossless: await new Bun.Image(opaque).webp({ lossless: true }).bytes(),
  withAlpha: await new Bun.Image(seeThrough).webp({ quality: 80 }).bytes(),
};
const idat = pngChunk("IDAT", Buffer.alloc(10));
const GIF_COMMENT = Buffer.concat([Buffer.from("21feff", "hex"), Buffer.alloc(255, 7), Buffer.alloc(1)]);
const repeat = (count: number, chunk: Buffer) => Array.from({ length: count }, () => chunk);
const frameCount = (count: number) => {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(count);
  return pngChunk("acTL", data);
};

async function refusal(bytes: Uint8Array<ArrayBuffer> | Blob): Promise<string> {
  const blob = bytes instanceof Blob ? bytes : new Blob([bytes]);
  const error = await sniffImage(blob, "mask", "image 3").then(
    () => "accepted",
    (error: unknown) => error,
  );
  if (!(error instanceof GatewayError)) return String(error);
  expect(error).toMatchObject({ code: "invalid_image", status: 400, param: "mask" });
  return error.message;
}

describe("telling", () => {
  const is = { width: 40, height: 20, frames: 1, hasAlpha: false };
  test.each([
    ["PNG", opaque, { ...is, format: "png" }],
    ["PNG with alpha", seeThrough, { ...is, format: "png", hasAlpha: true }],
    [
      "grey PNG with tRNS",
      pngOf([pngHeader(40, 20, 0), pngChunk("tRNS", Buffer.alloc(2)), idat]),
      { ...is, format: "png", hasAlpha: true },
    ],
    [
      "PNG with an animation of one frame",
      makePng(40, 20, { hasAlpha: false, chunks: [frameCount(1)] }),
      { ...is, format: "png" },
    ],
    ["JPEG", jpeg, { ...is, format: "jpeg" }],
    ["progressive JPEG", progressive, { ...is, format: "jpeg" }],
    [
      "JPEG turned by Exif",
      withSegments(jpeg, exifSegment(6)),
      { ...is, format: "jpeg", width: 20, height: 40, orientation: 6 },
    ],
    [
      "JPEG upside down by Exif",
      withSegments(jpeg, exifSegment(3)),
      { ...is, format: "jpeg", orientation: 3 },
    ],
    ["JPEG upright by Exif", withSegments(jpeg, exifSegment(1)), { ...is, format: "jpeg" }],
    [
      "JPEG with stray bytes",
      withSegments(jpeg, exifSegment(1), Buffer.alloc(90)),
      { ...is, format: "jpeg" },
    ],
    ["JPEG with fill bytes", withSegments(jpeg, Buffer.alloc(90, 0xff)), { ...is, format: "jpeg" }],
    ["lossy WebP", webp.lossy, { ...is, format: "webp" }],
    ["lossless WebP", webp.lossless, { ...is, format: "webp", isLossless: true }],
    ["WebP with alpha", webp.withAlpha, { ...is, format: "webp", hasAlpha: true }],
    ["extended WebP", makeExtendedWebp([40, 20], [40, 20]), { ...is, format: "webp", isLossless: true }],
    ["GIF", makeGif(40, 20, 1), { ...is, format: "gif" }],
    ["looping GIF of one frame", makeGif(40, 20, 1, true), { ...is, format: "gif" }],
    ["BMP", makeBmp(40, 20), { ...is, format: "bmp" }],
    ["BMP from the top", makeBmp(40, -20), { ...is, format: "bmp" }],
    ["TIFF, little-endian", makeTiff(40, 20), { ...is, format: "tiff" }],
    ["TIFF, big-endian", makeTiff(40, 20, { isBig: true }), { ...is, format: "tiff" }],
    ["HEIC", makeHeif("heic", 4000, 2000), { ...is, format: "heic", width: 4000, height: 2000 }],
    [
      "turned HEIC",
      makeHeif("mif1", 4000, 2000, { rotation: 3 }),
      { ...is, format: "heic", width: 2000, height: 4000 },
    ],
    [
      "clipped HEIC",
      makeHeif("heic", 640, 428, { clip: [640, 427] }),
      { ...is, format: "heic", width: 640, height: 427 },
    ],
    [
      "clipped and turned HEIC with long numbers",
      makeHeif("heic", 640, 428, { clip: [639, 427], rotation: 1, isLong: true }),
      { ...is, format: "heic", width: 427, height: 639 },
    ],
    ["AVIF", makeHeif("avif", 4000, 2000), { ...is, format: "avif", width: 4000, height: 2000 }],
  ] as [string, Uint8Array<ArrayBuffer>, object][])("%s", async (_, bytes, header) => {
    expect(await sniffImage(new Blob([bytes]))).toEqual(header as Awaited<ReturnType<typeof sniffImage>>);
  });

  test.each<[string, Buffer<ArrayBuffer>]>([
    [
      "text chunks",
      pngOf([pngHeader(40, 20, 2), ...repeat(2000, pngChunk("teXt", Buffer.alloc(2000))), idat]),
    ],
    ["segments", withSegments(jpeg, ...repeat(500, jpegSegment(0xe2, Buffer.alloc(65_000))))],
    [
      "blocks",
      Buffer.concat([
        makeGif(40, 20, 0).subarray(0, -1),
        ...repeat(9000, GIF_COMMENT),
        makeGif(40, 20, 1).subarray(19),
      ]),
    ],
  ])("reads past any number of %s", async (_, bytes) => {
    expect(await sniffImage(new Blob([bytes]))).toMatchObject({ ...is, frames: 1 });
  });

  test("ignores the name and declared type of a file", async () => {
    const file = new File([jpeg], "picture.png", { type: "image/webp" });
    expect((await sniffImage(file)).format).toBe("jpeg");
    expect(
      await refusal(new File(["<svg xmlns='http://www.w3.org/2000/svg'/>"], "a.png", { type: "image/png" })),
    ).toContain("image 3 is not a PNG");
  });

  test("skips megabytes of metadata before a photograph", async () => {
    const blocks = Array.from({ length: 40 }, () => jpegSegment(0xe2, Buffer.alloc(65_000)));
    const image = new WatchedBlob([withSegments(jpeg, ...blocks, exifSegment(8))]);
    expect(await sniffImage(image)).toMatchObject({ width: 20, height: 40 });
    expect(image.bytesRead).toBeGreaterThan(0);
    expect(image.bytesRead).toBeLessThanOrEqual(256 * 1024);
  });

  test("reads the first bytes only, whatever follows the picture", async () => {
    const polyglot = Buffer.concat([opaque, Buffer.from("<script>alert(1)</script>PK\x03\x04")]);
    expect((await sniffImage(new Blob([polyglot]))).format).toBe("png");
    expect(await refusal(Buffer.concat([Buffer.from("<html>"), opaque]))).toContain("is not a PNG");
  });
});

describe("refusing", () => {
  test.each([
    ["PNG of 16,385 pixels", pngOf([pngHeader(16_385, 1, 0, 1), idat]), "16385x1 pixels; at most 16384"],
    ["PNG of 50 megapixels and one", pngOf([pngHeader(10_000, 5001, 0, 1), idat]), "10000x5001 pixels"],
    ["PNG of two milliards", pngOf([pngHeader(2 ** 31, 2 ** 31, 0, 1), idat]), "pixels"],
    [
      "JPEG of 65,535 squared",
      withSegments(Buffer.from("ffd8ffd9", "hex"), jpegSegment(0xc0, Buffer.from("08ffffffff03", "hex"))),
      "65535x65535",
    ],
    ["WebP of 16,383 squared", makeExtendedWebp([16_383, 16_383], [16_383, 16_383]), "16383x16383"],
    [
      "GIF whose frame is larger than its screen",
      Buffer.from(makeGif(60_000, 60_000, 1)).fill(1, 6, 10),
      "60000",
    ],
    ["TIFF of four milliards", makeTiff(4_000_000_000, 2), "pixels"],
    ["AVIF of 40,000 squared", makeHeif("avif", 40_000, 40_000), "40000x40000"],
    ["animated PNG", makePng(4, 4, { chunks: [frameCount(10_000)] }), "animated"],
    ["animated GIF", makeGif(4, 4, 2), "animated"],
    ["animated WebP", makeExtendedWebp([40, 20], [40, 20], 0x02), "animated"],
    ["TIFF of two pages", makeTiff(4, 4, { next: 8 }), "several pages"],
    ["AVIF sequence", makeHeif("avis", 4, 4), "animated"],
    [
      "WebP whose picture is larger than its canvas",
      makeExtendedWebp([40, 20], [16_000, 16_000]),
      "damaged WebP",
    ],
    ["PNG without width", pngOf([pngHeader(0, 10, 2), idat]), "no pixels"],
    ["PNG with a wrong checksum", Buffer.from(opaque).fill(9, 17, 18), "damaged PNG"],
    ["PNG of an unknown colour type", pngOf([pngHeader(4, 4, 5), idat]), "damaged PNG"],
    [
      "PNG whose chunk claims a gigabyte",
      pngOf([pngHeader(4, 4, 2), Buffer.from("40000000695458740000", "hex")]),
      "cut off",
    ],
    [
      "PNG without picture data",
      pngOf([pngHeader(4, 4, 2), pngChunk("IEND", Buffer.alloc(0))]),
      "damaged PNG",
    ],
    ["JPEG without a frame", Buffer.from("ffd8ffe000040000ffd90000", "hex"), "damaged JPEG"],
    ["JPEG of text", Buffer.concat([Buffer.from("ffd8ff", "hex"), Buffer.alloc(9000, "a")]), "cut off"],
    ["text that starts like a BMP", Buffer.from(`BM${"is a fine car. ".repeat(9)}`), "damaged BMP"],
    ["PDF", Buffer.from("%PDF-1.7 and more than that"), "is not a PNG"],
    [
      "MP4",
      Buffer.concat([Buffer.from("00000018", "hex"), Buffer.from("ftypisom0000isommp42")]),
      "is not a PNG",
    ],
    ["nothing", Buffer.alloc(0), "is not a PNG"],
    ["seven bytes", Buffer.from("\x89PNG\r\n\x1a", "latin1"), "is not a PNG"],
  ] as [string, Uint8Array<ArrayBuffer>, string][])("%s", async (_, bytes, message) => {
    expect(await refusal(bytes)).toContain(message);
  });

  test("refuses a header cut at any byte", async () => {
    const headers = [jpeg.subarray(0, 160), makeTiff(40, 20), makeHeif("avif", 40, 20).subarray(0, 132)];
    for (const bytes of [...headers, opaque.subarray(0, 41), webp.lossless])
      for (let length = 0; length < bytes.length - 4; length += 1)
        expect(await refusal(bytes.slice(0, length))).toMatch(/^image 3 (is|has)/);
  });

  test("gives up small chunks without end after forty megabytes", async () => {
    const chunk = pngChunk("teXt", Buffer.alloc(100_000));
    const blobs = Array.from({ length: 5000 }, () => chunk.subarray(0, 3000));
    blobs.forEach((blob) => blob.writeUInt32BE(2988));
    const image = new WatchedBlob([
      pngOf([pngHeader(4, 4, 2)]),
      ...Array.from({ length: 3 }, () => blobs).flat(),
    ]);
    expect(image.size).toBeGreaterThan(44_000_000);
    expect(await refusal(image)).toContain("too long");
    expect(image.bytesRead).toBeWithin(1, 40 * 2 ** 20 + 1);
  });
});

test("any bytes give a header or an UnreadableImageError, and little is read", async () => {
  const seeds = [
    opaque,
    jpeg,
    progressive,
    webp.lossy,
    webp.withAlpha,
    makeGif(9, 9, 2),
    makeTiff(4, 4),
    makeHeif("heic", 9, 9),
    makeBmp(9, 9),
  ];
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 600 }),
    fc
      .tuple(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 12 }),
        fc.nat(400),
      )
      .map(([seed, changes, cut]) => {
        const copy = new Uint8Array(seed);
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        return copy.subarray(0, Math.max(12, copy.length - cut));
      }),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (bytes) => {
      const image = new WatchedBlob([bytes as Uint8Array<ArrayBuffer>]);
      const outcome = await sniffImage(image).catch((error: unknown) => error);
      if (outcome instanceof Error)
        expect(outcome).toMatchObject({ name: "GatewayError", code: "invalid_image" });
      else expect(outcome).toEqual(await readImageHeader(image));
      expect(image.bytesRead).toBeLessThanOrEqual(2 * 256 * 1024);
    }),
    { numRuns: 3000 },
  );
});
