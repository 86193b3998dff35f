import type { ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { openPicture } from "../../imaging/codec.ts";
import { COLOUR_WITH_ALPHA, readPixels, strideOf } from "../../imaging/png/pixels.ts";
import { readImageHeader } from "../../imaging/sniff.ts";
import type { Semaphore } from "../../lib/semaphore.ts";
import { createCanvas, type Canvas } from "./landscape.ts";

/** The codec slots, which limit the memory of the process, and the signal that aborts the wait for a slot. */
export interface Codec {
  slots: Semaphore;
  signal: AbortSignal;
}

/**
 * A low compression level. Enlarged pictures have large even areas, so they compress well. At a higher level, 16
 * million pixels would take seconds.
 */
const PNG_COMPRESSION_LEVEL = 3;

export interface Encoding {
  format: ImageFormat;
  /** Exact width of the delivered picture, in pixels. */
  width: number;
  height: number;
  /** Quality from 1 to 100 for JPEG and WebP. */
  quality: number;
}

/** Resizes a painted canvas to the size in `encoding` and encodes it. The codec runs in another thread. */
export async function encodePicture(canvas: Canvas, encoding: Encoding, codec: Codec): Promise<Blob> {
  const { width, height, quality } = encoding;
  using _slot = await codec.slots.acquire(codec.signal);
  const painted = new Bun.Image(canvas.file);
  const isExact = canvas.width === width && canvas.height === height;
  const image = isExact ? painted : painted.resize(width, height, { filter: "nearest" });
  switch (encoding.format) {
    case "png":
      return await image.png({ compressionLevel: PNG_COMPRESSION_LEVEL }).blob();
    case "jpeg":
      return await image.jpeg({ quality }).blob();
    case "webp":
      return await image.webp({ quality }).blob();
  }
}

const BYTES_PER_PIXEL = 4;

/**
 * Decodes a reference (input picture) to pixels in the size `target`. `inside` keeps the ratio, `fill` stretches the
 * picture. Throws a `rejected` error that names the field when the picture cannot be decoded.
 */
export async function decodeReference(
  reference: ReferenceImage,
  target: { width: number; height: number; fit: "inside" | "fill"; filter?: "nearest" },
  field: string,
  codec: Codec,
): Promise<Canvas> {
  using _slot = await codec.slots.acquire(codec.signal);
  return toCanvas(await resizeToPng(reference, target, field));
}

async function resizeToPng(
  reference: ReferenceImage,
  target: { width: number; height: number; fit: "inside" | "fill"; filter?: "nearest" },
  field: string,
): Promise<Uint8Array> {
  try {
    const picture = await openPicture(reference.blob, await readImageHeader(reference.blob));
    return await picture
      .resize(target.width, target.height, { fit: target.fit, filter: target.filter ?? "bilinear" })
      .png({ compressionLevel: 0 })
      .bytes();
  } catch (cause) {
    throw new UpstreamError("rejected", `sandbox cannot decode ${field}`, {
      status: 400,
      publicMessage: `The picture in ${field} cannot be decoded. Send it as a valid PNG, JPEG or WebP.`,
      param: field,
      cause,
    });
  }
}

/** Reads a PNG of the codec, whose pixels have four channels of eight bits. */
function toCanvas(png: Uint8Array): Canvas {
  const { width, height, depth, colourType, rows } = readPixels(png);
  if (depth !== 8 || colourType !== COLOUR_WITH_ALPHA) throw new Error("unexpected kind of PNG");
  const canvas = createCanvas(width, height);
  const stride = strideOf(width, BYTES_PER_PIXEL * 8);
  for (let y = 0; y < height; y += 1) {
    let from = y * stride + 1;
    for (let x = 0; x < width; x += 1, from += BYTES_PER_PIXEL) {
      const red = rows[from] ?? 0;
      const green = rows[from + 1] ?? 0;
      const blue = rows[from + 2] ?? 0;
      const alpha = rows[from + 3] ?? 0;
      canvas.pixels[y * width + x] = (alpha << 24) | (red << 16) | (green << 8) | blue;
    }
  }
  return canvas;
}
