import { expect, test } from "bun:test";
import sharp from "sharp";
import { jpegSegment, makeGif, makePng, pngChunk, withSegments } from "../../test/support/pictures.ts";
import { UnreadableImageError, type ImageHeader } from "./header-reader.ts";
import { requireWhole } from "./whole.ts";

const png = makePng(300, 200);
const picture = new Bun.Image(png);
const jpeg = await picture.jpeg({ quality: 90 }).bytes();
const whole: [string, ImageHeader["format"], Uint8Array][] = [
  ["PNG", "png", png],
  ["JPEG", "jpeg", jpeg],
  ["progressive JPEG", "jpeg", await picture.jpeg({ progressive: true }).bytes()],
  [
    "JPEG of many segments",
    "jpeg",
    withSegments(jpeg, ...Array.from({ length: 90 }, () => jpegSegment(0xe2, Buffer.alloc(65_000, 0xff)))),
  ],
  ["lossy WebP", "webp", await picture.webp({ quality: 80 }).bytes()],
  ["lossless WebP", "webp", await picture.webp({ lossless: true }).bytes()],
  ["GIF", "gif", makeGif(40, 20, 1)],
  ["AVIF", "avif", await sharp(png).avif({ quality: 50 }).toBuffer()],
];

async function verdict(bytes: Uint8Array, format: ImageHeader["format"]): Promise<string> {
  try {
    await requireWhole(new Blob([new Uint8Array(bytes)]), format);
    return "whole";
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableImageError);
    return (error as Error).message;
  }
}

test.each(whole)("a %s is whole, also with bytes behind its end", async (_, format, bytes) => {
  expect(await verdict(bytes, format)).toBe("whole");
  expect(await verdict(Buffer.concat([bytes, Buffer.alloc(100_000, 0xff)]), format)).toBe("whole");
});

test.each(whole)("a %s is not whole when it is cut anywhere", async (_, format, bytes) => {
  // A GIF is complete without its last byte, the trailer.
  const end = bytes.length - (format === "gif" ? 1 : 0);
  const cuts = Array.from({ length: 300 }, (_, index) => 20 + Math.floor((index / 300) * (end - 21)));
  for (const length of [...cuts, end - 1])
    expect([length, await verdict(bytes.slice(0, length), format)]).toEqual([length, "is cut off"]);
});

test("a PNG with a wrong checksum is damaged, unless decoders leave the chunk out", async () => {
  const text = pngChunk("tEXt", Buffer.from("a\0b"));
  text[text.length - 1]! ^= 1;
  expect(await verdict(makePng(9, 9, { chunks: [text] }), "png")).toBe("whole");
  const wrong = Buffer.from(png);
  wrong[png.indexOf("IDAT") + 30]! ^= 1;
  expect(await verdict(wrong, "png")).toContain("checksum");
});

test("a large picture is walked in windows, across their borders", async () => {
  const data = Buffer.alloc(3_000_000, 0xff);
  for (let at = 1; at < data.length; at += 2) data[at] = 0;
  const head = jpeg.subarray(0, Buffer.from(jpeg).indexOf("ffda", 0, "hex"));
  for (const shift of [0, 1]) {
    const scan = Buffer.concat([Buffer.from("ffda0008010100003f00", "hex"), Buffer.alloc(shift, 7), data]);
    expect(await verdict(Buffer.concat([head, scan, Buffer.from("ffd9", "hex")]), "jpeg")).toBe("whole");
    expect(await verdict(Buffer.concat([head, scan]), "jpeg")).toBe("is cut off");
  }
});
