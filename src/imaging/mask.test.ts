import { deflateSync } from "node:zlib";
import { expect, test } from "bun:test";
import { makeGif, makePng, pngChunk, pngHeader, pngOf } from "../../test/support/pictures.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { readMask } from "./reference.ts";

const slots = createSemaphore(2);
const first = { width: 40, height: 20 };
/** Returns the data and end chunks of a PNG of 40 by 20 pixels. All bytes of the pixels are zero. */
function picture(bytesPerPixel: number): Buffer[] {
  const rows = Buffer.alloc(20 * (1 + 40 * bytesPerPixel));
  return [pngChunk("IDAT", deflateSync(rows)), pngChunk("IEND", Buffer.alloc(0))];
}
const palette = pngOf([
  pngHeader(40, 20, 3),
  pngChunk("PLTE", Buffer.alloc(6)),
  pngChunk("tRNS", Buffer.alloc(1)),
  ...picture(1),
]);

test.each([
  ["colour with alpha", makePng(40, 20)],
  ["a palette with transparency", palette],
  ["grey with alpha", pngOf([pngHeader(40, 20, 4), ...picture(2)])],
])("a PNG of image 1's size is a mask: %s", async (_, bytes) => {
  const blob = new Blob([bytes]);
  expect(await readMask(blob, first, { slots })).toEqual({ blob, format: "png", width: 40, height: 20 });
});

test.each([
  ["no alpha channel", makePng(40, 20, { hasAlpha: false }), "must have an alpha channel"],
  ["another size", makePng(20, 40), "size of image 1, 40x20 pixels; it is 20x40"],
  ["another format", makeGif(40, 20, 1), "must be a PNG with an alpha channel; this is a GIF"],
  ["no picture", Buffer.from("hello hello hello"), "is not a PNG"],
  ["half its data", makePng(40, 20).subarray(0, -40), "is cut off"],
])("a mask with %s is refused with what to change", async (_, bytes, message) => {
  const error = await readMask(new Blob([bytes]), first, { slots }).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "invalid_image", param: "mask" });
  expect((error as Error).message).toStartWith("The mask ");
  expect((error as Error).message).toContain(message);
});
