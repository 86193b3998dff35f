import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import {
  DERIVED_HEIC,
  PHONE_AVIF,
  PHONE_HEIC,
  PHONE_TIFF,
  TURNED_HEIC,
} from "../../test/support/encoded-pictures.table.ts";
import { makeGreyTiff, makePng, pngChunk } from "../../test/support/pictures.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { DISPLAY_P3_PROFILE } from "./profiles.ts";
import { readReference } from "./reference.ts";
import { readImageHeader } from "./sniff.ts";
import { transcode } from "./transcode.ts";

/* Pictures as phones send them: wide colours, odd sizes, Exif rotation and GPS coordinates. */
const slots = createSemaphore(2);
const read = (bytes: Uint8Array<ArrayBuffer>) =>
  readReference(new Blob([bytes]), { param: "image", name: "The image", slots });

/** Returns the size, and the colours near two corners as an sRGB screen shows them. */
async function shown(image: Blob) {
  const picture = sharp(await image.bytes())
    .toColourspace("srgb")
    .removeAlpha()
    .raw({ depth: "uchar" });
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels).subarray(0, 3),
  ];
  return { size: [info.width, info.height], first: at(4, 4), last: at(info.width - 5, info.height - 5) };
}

/** Expects equal colours, except for compression losses. */
function expectNear(actual: number[], wanted: number[]): void {
  expect(Math.max(...actual.map((value, index) => Math.abs(value - wanted[index]!)))).toBeLessThanOrEqual(6);
}

const png = makePng(33, 17, {
  pixel: (x) => (x < 16 ? [200, 80, 40, 255] : [40, 160, 60, 255]),
  chunks: [pngChunk("iCCP", Buffer.concat([Buffer.from("P3\0\0"), deflateSync(DISPLAY_P3_PROFILE)]))],
});
/**
 * The colours of this file are defined only by code points. The box with the profile is renamed, so that readers skip
 * it.
 */
const namedAvif = Buffer.from(
  PHONE_AVIF.toString("latin1")
    .replace("colrprof", "freeprof")
    .replace("nclx\0\x02\0\x02", "nclx\0\x0c\0\x0d"),
  "latin1",
);
const wide = [
  ["HEIC", PHONE_HEIC],
  ["AVIF", PHONE_AVIF],
  ["TIFF", PHONE_TIFF],
  ["AVIF without a profile", namedAvif],
  ["JPEG", await new Bun.Image(png).jpeg({ quality: 100 }).bytes()],
  ["WebP", await new Bun.Image(png).webp({ lossless: true }).bytes()],
] as [string, Buffer<ArrayBuffer>][];

describe("wide colours stay as they are", () => {
  test.each(wide)("as a reference: %s", async (_, bytes) => {
    const { blob } = await read(bytes);
    const [seen, wanted] = [await shown(blob), await shown(new Blob([png]))];
    expect(seen.size).toEqual(wanted.size);
    expectNear(wanted.first, [216, 69, 17]);
    expectNear(seen.first, wanted.first);
    expectNear(seen.last, wanted.last);
  });

  test.each(["png", "jpeg", "webp"] as const)("as a delivered %s", async (format) => {
    const { first } = await shown(await transcode(new Blob([PHONE_HEIC]), format, { slots }));
    expectNear(first, [216, 69, 17]);
  });
});

test.each(wide.slice(0, 3))("the place where a %s was taken is removed", async (_, bytes) => {
  const original = bytes.toString("latin1");
  expect(original).toContain("taken-at-home");
  const { blob } = await read(bytes);
  const sent = Buffer.from(await blob.bytes()).toString("latin1");
  expect(sent).not.toMatch(/taken-at-home|exif|GPS|xmp|[tzi][TX]+t/i);
});

test.each([
  ["clipped", PHONE_HEIC, [33, 17]],
  ["clipped and turned", TURNED_HEIC, [17, 33]],
  ["derived from a larger one", DERIVED_HEIC, [33, 17]],
  ["AVIF of an odd size", PHONE_AVIF, [33, 17]],
] as const)("header and pixels agree on the size of a HEIC: %s", async (_, bytes, size) => {
  const { width, height } = await readImageHeader(new Blob([bytes]));
  const { blob } = await read(bytes);
  expect([[width, height], (await shown(blob)).size]).toEqual([[...size], [...size]]);
});

describe.each([1, 2, 4, 8, 16] as const)("grey TIFF of %i bits is light where it should be", (depth) => {
  test.each([false, true])("0 is white: %p", async (isZeroWhite) => {
    const { blob } = await read(makeGreyTiff(depth, isZeroWhite));
    const { first, last } = await shown(blob);
    const most = 2 ** depth - 1;
    const dark = Math.round((Math.floor(most / 4) / most) * 255);
    expectNear(first, [dark, dark, dark]);
    expectNear(last, [255 - dark, 255 - dark, 255 - dark]);
  });
});
