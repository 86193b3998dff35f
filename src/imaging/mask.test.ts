import { expect, test } from "bun:test";
import { makeGif, makePng, pngChunk, pngHeader, pngOf } from "../../test/support/pictures.ts";
import { readMask } from "./mask.ts";

const first = { width: 40, height: 20 };
const palette = pngOf([
  pngHeader(40, 20, 3),
  pngChunk("PLTE", Buffer.alloc(6)),
  pngChunk("tRNS", Buffer.alloc(1)),
  pngChunk("IDAT", Buffer.alloc(9)),
]);

test.each([
  ["colour with alpha", makePng(40, 20)],
  ["a palette with transparency", palette],
  ["grey with alpha", pngOf([pngHeader(40, 20, 4), pngChunk("IDAT", Buffer.alloc(9))])],
])("a PNG of image 1's size is a mask: %s", async (_, bytes) => {
  const blob = new Blob([bytes]);
  expect(await readMask(blob, first)).toEqual({ blob, format: "png", width: 40, height: 20 });
});

test.each([
  ["no alpha channel", makePng(40, 20, { hasAlpha: false }), "must have an alpha channel"],
  ["another size", makePng(20, 40), "size of image 1, 40x20 pixels; it is 20x40"],
  ["another format", makeGif(40, 20, 1), "must be a PNG with an alpha channel; this is a GIF"],
  ["no picture", Buffer.from("hello hello hello"), "is not a PNG"],
])("a mask with %s is refused with what to change", async (_, bytes, message) => {
  const error = await readMask(new Blob([bytes]), first).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "invalid_image", param: "mask" });
  expect((error as Error).message).toStartWith("mask ");
  expect((error as Error).message).toContain(message);
});
