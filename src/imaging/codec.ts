import { detachBuffer } from "../lib/detach-buffer.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { ByteCursor, type ImageHeader, type Orientation, textAt } from "./header-reader.ts";
import { decodeForeign, type ForeignFormat } from "./foreign.ts";
import { DECODED } from "./png/chunks.ts";

/** Maximum number of pixels of a picture. `MAX_EDGE` is the maximum width and height in pixels. */
export const MAX_PIXELS = 50_000_000;
export const MAX_EDGE = 16_384;

/**
 * Opens a picture for the codec and turns it upright by its Exif orientation, so that the pixels agree with the header.
 * Throws an `UnreadableImageError` when a format that needs another decoder cannot be decoded. The codec's own errors
 * come later, from the returned pipeline.
 */
export async function openPicture(
  image: Blob,
  header: ImageHeader,
  signal?: AbortSignal,
): Promise<Bun.Image> {
  return pipelineOf(await readableOf(image, header, signal), header);
}

/**
 * Decodes a whole picture and discards the result. Reads the bytes into memory first: bytes that the codec reads from a
 * file would stay in memory until the next garbage collection. Throws the errors of `openPicture` and of the codec.
 */
export async function decodeWhole(image: Blob, header: ImageHeader, signal?: AbortSignal): Promise<void> {
  const readable = await readableOf(image, header, signal);
  const bytes = readable instanceof Blob ? await readable.bytes() : readable;
  try {
    const picture = pipelineOf(bytes, header);
    await picture.resize(1, 1, { filter: "nearest" }).png({ compressionLevel: 0 }).bytes();
  } finally {
    detachBuffer(bytes);
  }
}

/** Returns the picture in a form that the built-in codec can read. */
async function readableOf(
  image: Blob,
  header: ImageHeader,
  signal: AbortSignal | undefined,
): Promise<Blob | Uint8Array> {
  if (header.format === "png") return await withoutExtras(image);
  if (!isForeign(header)) return image;
  return await decodeForeign(image, {
    format: header.format,
    isDisplayP3: header.isDisplayP3,
    maxEdge: MAX_EDGE,
    maxPixels: MAX_PIXELS,
    signal,
  });
}

function pipelineOf(readable: Blob | Uint8Array, header: ImageHeader): Bun.Image {
  const { orientation } = header;
  const maxPixels = isForeign(header) ? MAX_PIXELS : decodeLimit(header);
  const pipeline = new Bun.Image(readable, { maxPixels, autoOrient: false });
  return orientation === undefined ? pipeline : TURNS[orientation](pipeline);
}

/** True when programs display the picture as its header describes. All other pictures must be encoded again. */
export function isPortable({ format, orientation, isUnusual }: ImageHeader): boolean {
  return !isUnusual && !FOREIGN.has(format) && (orientation === undefined || format === "jpeg");
}

/** Formats that the built-in codec does not read on every platform. */
const FOREIGN: ReadonlySet<string> = new Set(["heic", "avif", "tiff"]);

/**
 * The call that makes a picture upright, by orientation. The pipeline always rotates before it mirrors, regardless of
 * the order of calls (Exif 2.32, section 4.6.4).
 */
const TURNS: Readonly<Record<Orientation, (picture: Bun.Image) => Bun.Image>> = {
  2: (picture) => picture.flop(),
  3: (picture) => picture.rotate(180),
  4: (picture) => picture.flip(),
  5: (picture) => picture.rotate(90).flop(),
  6: (picture) => picture.rotate(90),
  7: (picture) => picture.rotate(90).flip(),
  8: (picture) => picture.rotate(270),
};

const MIN_DECODE_LIMIT = 2 ** 20;

/**
 * Returns the maximum number of pixels that the codec may decode: the number in the header, at most `MAX_PIXELS`. A
 * small picture gets a larger maximum, because this maximum also limits the size of a compressed colour profile.
 */
function decodeLimit({ width, height }: ImageHeader): number {
  return Math.min(Math.max(width * height, MIN_DECODE_LIMIT), MAX_PIXELS);
}

/** True when the built-in codec cannot read the picture, or decodes it incorrectly. */
function isForeign(header: ImageHeader): header is ImageHeader & { format: ForeignFormat } {
  const { format, isUnusual } = header;
  if (format === "png" || format === "webp" || format === "gif") return false;
  return isUnusual === true || FOREIGN.has(format);
}

/**
 * Returns a PNG with only the chunks that determine pixels and colours. The codec would read all other chunks into
 * memory and decompress their texts, which may be very large.
 */
async function withoutExtras(image: Blob): Promise<Blob | Uint8Array> {
  const parts: Blob[] = [];
  using cursor = new ByteCursor(image);
  cursor.advance(8);
  let kept = 0;
  for (;;) {
    const start = cursor.offset;
    const head = await cursor.take(8);
    const type = head && textAt(head, 4, 4);
    if (!head || type === null || !cursor.advance(head.getUint32(0) + 4)) break;
    if (type === "IEND") {
      const last = image.slice(kept, cursor.offset);
      if (parts.length === 0) return last;
      // The codec cannot open a blob that consists of several file parts.
      return Buffer.concat(await Promise.all([...parts, last].map((part) => part.bytes())));
    }
    if (DECODED.has(type)) continue;
    if (start > kept) parts.push(image.slice(kept, start));
    kept = cursor.offset;
  }
  return image;
}

/** Maximum number of pictures that are decoded or encoded at the same time. A picture may take four bytes per pixel. */
const SLOTS = 4;
/** Maximum number of slots for one organization. The last slot stays free for other organizations. */
const MAX_SLOTS_PER_ORGANIZATION = SLOTS - 1;

/**
 * Returns the codec slots of a process. Decoding or encoding uses a processor for seconds. So one organization gets
 * fewer slots than there are processors, but at least one slot.
 */
export function createCodecSlots(processors: number): FairSemaphore {
  const perOrganization = Math.max(1, Math.min(MAX_SLOTS_PER_ORGANIZATION, processors - 1));
  return new FairSemaphore(SLOTS, perOrganization);
}
