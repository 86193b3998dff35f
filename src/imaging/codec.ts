import { detachBuffer } from "../lib/detach-buffer.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { ByteCursor, type ImageHeader, type Orientation, textAt } from "./header-reader.ts";
import { decodeForeign, type ForeignFormat } from "./foreign.ts";

/** Maximum pixels of a picture, in total and along one edge. */
export const MAX_PIXELS = 50_000_000;
export const MAX_EDGE = 16_384;

/**
 * Opens a picture for the codec, turned as its header says. Every reader of a caller's or a vendor's picture starts
 * here, so that header and pixels agree. Throws an `UnreadableImageError` when the picture had to be decoded first and
 * could not be; the codec's own errors come from the pipeline.
 */
export async function openPicture(
  image: Blob,
  header: ImageHeader,
  signal?: AbortSignal,
): Promise<Bun.Image> {
  return pipelineOf(await readableOf(image, header, signal), header);
}

/**
 * Decodes all of a picture and keeps nothing, not even its bytes: those that the codec reads from a file stay until the
 * next garbage collection. Throws as `openPicture` does, and the codec's own errors.
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

/** True when vendors and other programs show a picture as its header says; otherwise it must be encoded anew. */
export function isPortable({ format, orientation, isUnusual }: ImageHeader): boolean {
  return !isUnusual && !FOREIGN.has(format) && (orientation === undefined || format === "jpeg");
}

/** Formats that the built-in codec does not read on every platform. */
const FOREIGN: ReadonlySet<string> = new Set(["heic", "avif", "tiff"]);

/** The pipeline turns before it mirrors, whatever the order of the calls (Exif 2.32, section 4.6.4). */
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
 * Returns the pixels that the codec may unpack for a picture: the number in its header. The codec derives the limit of
 * a compressed colour profile from it, so small pictures get a minimum.
 */
function decodeLimit({ width, height }: ImageHeader): number {
  return Math.min(Math.max(width * height, MIN_DECODE_LIMIT), MAX_PIXELS);
}

/** True when the built-in codec does not read the picture or misreads it. */
function isForeign(header: ImageHeader): header is ImageHeader & { format: ForeignFormat } {
  const { format, isUnusual } = header;
  if (format === "png" || format === "webp" || format === "gif") return false;
  return isUnusual === true || FOREIGN.has(format);
}

/** The chunks that pixels and colours depend on. */
const DECODED: ReadonlySet<string> = new Set(
  "IHDR PLTE tRNS IDAT IEND iCCP sRGB gAMA cHRM cICP sBIT".split(" "),
);

/**
 * Returns a PNG without other chunks and without bytes after its end: the codec reads a whole file into memory and
 * unpacks compressed text, of which a little makes a lot.
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
      // The codec opens no blob that consists of parts of files.
      return Buffer.concat(await Promise.all([...parts, last].map((part) => part.bytes())));
    }
    if (DECODED.has(type)) continue;
    if (start > kept) parts.push(image.slice(kept, start));
    kept = cursor.offset;
  }
  return image;
}

/** Pictures decoded or encoded at once; each may take four bytes a pixel. */
const SLOTS = 4;
/** Most slots of one organization, so that its large pictures never take every slot. */
const MAX_SLOTS_PER_ORGANIZATION = SLOTS - 1;

/**
 * Makes the codec slots of a process for the machine's number of processors. One organization leaves a processor to the
 * others: decoding and encoding keep one each busy for seconds.
 */
export function createCodecSlots(processors: number): FairSemaphore {
  const perOrganization = Math.max(1, Math.min(MAX_SLOTS_PER_ORGANIZATION, processors - 1));
  return new FairSemaphore(SLOTS, perOrganization);
}
