import { detachBuffer } from "../lib/detach-buffer.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { ByteCursor, type ImageHeader, type Orientation, textAt } from "./header-reader.ts";
import { decodeForeign, type ForeignFormat } from "./foreign.ts";

/** Maximum pixels of a picture. `MAX_EDGE` is the maximum along one edge. */
export const MAX_PIXELS = 50_000_000;
export const MAX_EDGE = 16_384;

/**
 * Opens a picture for the codec, turned as its header says. Every reader of a picture from a caller or vendor begins
 * here, so that header and pixels agree. Throws an `UnreadableImageError` when the picture must be decoded by another
 * decoder first and cannot be; errors of the codec are thrown later, by the pipeline.
 */
export async function openPicture(
  image: Blob,
  header: ImageHeader,
  signal?: AbortSignal,
): Promise<Bun.Image> {
  return pipelineOf(await readableOf(image, header, signal), header);
}

/**
 * Decodes a whole picture and keeps nothing. Reads the bytes into memory first, because bytes that the codec reads from
 * a file stay there until the next garbage collection. Throws the errors of `openPicture` and of the codec.
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

/** Returns the picture in a form that the built-in codec reads. */
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

/** True when vendors and other programs show the picture as its header says. Another picture must be encoded again. */
export function isPortable({ format, orientation, isUnusual }: ImageHeader): boolean {
  return !isUnusual && !FOREIGN.has(format) && (orientation === undefined || format === "jpeg");
}

/** Formats that the built-in codec does not read on every platform. */
const FOREIGN: ReadonlySet<string> = new Set(["heic", "avif", "tiff"]);

/**
 * The call that turns a picture upright, by orientation. The pipeline always turns before it mirrors, regardless of the
 * order of calls (Exif 2.32, section 4.6.4).
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
 * Returns the maximum number of pixels that the codec may unpack for a picture, which is the number in its header.
 * Small pictures get a larger maximum, because the codec uses it also as the limit of a compressed colour profile.
 */
function decodeLimit({ width, height }: ImageHeader): number {
  return Math.min(Math.max(width * height, MIN_DECODE_LIMIT), MAX_PIXELS);
}

/** True when the built-in codec cannot read the picture or reads it wrongly. */
function isForeign(header: ImageHeader): header is ImageHeader & { format: ForeignFormat } {
  const { format, isUnusual } = header;
  if (format === "png" || format === "webp" || format === "gif") return false;
  return isUnusual === true || FOREIGN.has(format);
}

/** Types of the PNG chunks that determine pixels and colours. */
const DECODED: ReadonlySet<string> = new Set(
  "IHDR PLTE tRNS IDAT IEND iCCP sRGB gAMA cHRM cICP sBIT".split(" "),
);

/**
 * Returns a PNG without other chunks and without the bytes after its end. The codec would read the whole file into
 * memory and unpack compressed text, which may become very large.
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
      // The codec cannot open a blob that consists of several parts of files.
      return Buffer.concat(await Promise.all([...parts, last].map((part) => part.bytes())));
    }
    if (DECODED.has(type)) continue;
    if (start > kept) parts.push(image.slice(kept, start));
    kept = cursor.offset;
  }
  return image;
}

/** Maximum number of pictures that are decoded or encoded at the same time. Each may take four bytes per pixel. */
const SLOTS = 4;
/** Maximum number of slots of one organization, so that its large pictures never take all slots. */
const MAX_SLOTS_PER_ORGANIZATION = SLOTS - 1;

/**
 * Returns the codec slots of a process, depending on the machine's number of processors. Decoding or encoding uses a
 * processor for seconds; one organization must leave one processor to the others.
 */
export function createCodecSlots(processors: number): FairSemaphore {
  const perOrganization = Math.max(1, Math.min(MAX_SLOTS_PER_ORGANIZATION, processors - 1));
  return new FairSemaphore(SLOTS, perOrganization);
}
