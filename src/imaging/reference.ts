import { GatewayError } from "../domain/gateway-error.ts";
import type { ReferenceImage } from "../domain/image.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { decodeWhole, isPortable } from "./codec.ts";
import { type ImageHeader, UNDECODABLE, UnreadableImageError } from "./header-reader.ts";
import { encodePng, MAX_PNG_PIXELS } from "./png/index.ts";
import { readImageHeader, refusing, sniffImage } from "./sniff.ts";
import { encodeAs } from "./transcode.ts";
import { requireWhole } from "./whole.ts";

/**
 * Reads a caller's picture and decodes all of it. Returns the picture unchanged if vendors display it correctly.
 * Otherwise (HEIC, AVIF, TIFF, unusual BMP, CMYK JPEG, PNG or WebP with an Exif orientation) encodes it again, upright
 * and with CMYK as RGB. `name` appears in messages ("Image 3 of 16"). Throws `invalid_image`.
 */
export async function readReference(
  image: Blob,
  { param, name, slots, signal }: ReferenceOptions,
): Promise<ReferenceImage> {
  const picture = { param, name };
  const header = await checkReference(image, picture);
  using _slot = await slots.acquire(signal);
  if (isPortable(header)) {
    await refusing(picture, decode(image, header, signal));
    const { format, width, height } = header;
    return { blob: image, format, width, height };
  }
  const blob = await refusing(picture, encodePortably(image, header, signal));
  const { format, width, height } = await readImageHeader(blob);
  return { blob, format, width, height };
}

/**
 * Reads the header of a caller's picture and checks the file's structure, as `requireWhole` does. Throws
 * `invalid_image`.
 */
export async function checkReference(
  image: Blob,
  picture: Pick<ReferenceOptions, "param" | "name">,
): Promise<ImageHeader> {
  const header = await sniffImage(image, picture.param, picture.name);
  await refusing(picture, requireWhole(image, header.format));
  return header;
}

interface ReferenceOptions {
  param: string;
  name: string;
  slots: Semaphore;
  signal?: AbortSignal;
}

/**
 * Encodes a picture in a portable format. A lossy picture stays lossy, because a photograph could otherwise become ten
 * times larger; only a HEIC or AVIF with transparency becomes a PNG. A PNG keeps its channels and depth, unless the
 * picture is too large.
 */
async function encodePortably(
  image: Blob,
  header: ImageHeader,
  signal: AbortSignal | undefined,
): Promise<Blob> {
  const { format, width, height, hasAlpha, isLossless, orientation } = header;
  // A pixel of this PNG may have eight bytes, twice as many as `MAX_PNG_PIXELS` counts.
  if (format === "png" && orientation !== undefined && 2 * width * height <= MAX_PNG_PIXELS) {
    await decode(image, header, signal);
    return await encodePng(await image.bytes(), { kind: "turn", orientation }, signal);
  }
  if (format === "webp" && isLossless) return await encodeAs("webp", image, header, { isLossless, signal });
  if (format === "webp") return await encodeWebp(image, header, signal);
  const isPhotograph = format === "heic" || format === "avif" || format === "jpeg";
  return await encodeAs(isPhotograph && !hasAlpha ? "jpeg" : "png", image, header, { signal });
}

/**
 * Encodes the picture as WebP. Tries lower qualities until the result is at most as large as the original, or no
 * quality is left.
 */
async function encodeWebp(image: Blob, header: ImageHeader, signal: AbortSignal | undefined): Promise<Blob> {
  let blob = image;
  for (const quality of WEBP_QUALITIES) {
    blob = await encodeAs("webp", image, header, { quality, signal });
    if (blob.size <= image.size) break;
  }
  return blob;
}

const WEBP_QUALITIES = [95, 80, 60, 30];

/** Decodes the whole picture, only to find errors. */
async function decode(image: Blob, header: ImageHeader, signal: AbortSignal | undefined): Promise<void> {
  try {
    await decodeWhole(image, header, signal);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new UnreadableImageError(UNDECODABLE, { cause });
  }
}

const NAME = "The mask";

/** Checks a mask by `checkMask` and decodes all of it to find errors. */
export async function readMask(
  mask: Blob,
  first: { width: number; height: number },
  options: { slots: Semaphore; signal?: AbortSignal },
): Promise<ReferenceImage> {
  await checkMask(mask, first);
  return await readReference(mask, { param: "mask", name: NAME, ...options });
}

/**
 * Checks an inpainting mask without decoding it. A mask must be a PNG with an alpha channel and with the size of image
 * 1. Its transparent pixels are the area to edit. Throws `invalid_image` with `param` "mask".
 */
export async function checkMask(mask: Blob, first: { width: number; height: number }): Promise<void> {
  const { format, width, height, hasAlpha } = await checkReference(mask, { param: "mask", name: NAME });
  const problem =
    format !== "png"
      ? `must be a PNG with an alpha channel; this is a ${format.toUpperCase()}`
      : !hasAlpha
        ? "must have an alpha channel: make the area to edit fully transparent"
        : width !== first.width || height !== first.height
          ? `must have the size of image 1, ${first.width}x${first.height} pixels; it is ${width}x${height}`
          : null;
  if (problem) throw new GatewayError("invalid_image", `${NAME} ${problem}.`, { param: "mask" });
}
