import { inflateSync } from "node:zlib";
import type { ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { openPicture } from "../../imaging/codec.ts";
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
  return readPixels(await resizeToPng(reference, target, field));
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

/**
 * Reads a PNG that the codec has written at compression level 0. Such a PNG is always 8-bit RGBA without interlacing
 * and filters (PNG specification, sections 5, 9.2 and 11.2).
 */
function readPixels(png: Uint8Array): Canvas {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const canvas = createCanvas(view.getUint32(16), view.getUint32(20));
  if (png[24] !== 8 || png[25] !== 6 || png[28] !== 0) throw new Error("unexpected kind of PNG");
  const rows = inflateSync(Buffer.concat(dataChunks(png, view)));
  const stride = 1 + canvas.width * BYTES_PER_PIXEL;
  for (let y = 0; y < canvas.height; y += 1) {
    if (rows[y * stride] !== 0) throw new Error("unexpected filter in PNG");
    let from = y * stride + 1;
    for (let x = 0; x < canvas.width; x += 1, from += BYTES_PER_PIXEL) {
      const red = rows[from] ?? 0;
      const green = rows[from + 1] ?? 0;
      const blue = rows[from + 2] ?? 0;
      const alpha = rows[from + 3] ?? 0;
      canvas.pixels[y * canvas.width + x] = (alpha << 24) | (red << 16) | (green << 8) | blue;
    }
  }
  return canvas;
}

function dataChunks(png: Uint8Array, view: DataView): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const idat = 0x49444154;
  for (let offset = 8; offset + 12 <= png.length;) {
    const length = view.getUint32(offset);
    if (view.getUint32(offset + 4) === idat) chunks.push(png.subarray(offset + 8, offset + 8 + length));
    offset += 12 + length;
  }
  return chunks;
}
