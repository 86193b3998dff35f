import {
  type HeaderReader,
  type ImageHeader,
  isSideways,
  UnreadableImageError,
  type Orientation,
} from "../header-reader.ts";

/**
 * Reads the header of a TIFF. The first directory contains the size. A second directory means a second page. Source:
 * TIFF 6.0, section 2.
 */
export async function readTiff(reader: HeaderReader): Promise<ImageHeader> {
  const directory = await readDirectory((offset, length) => reader.peek(offset, length));
  const width = directory?.values.get(IMAGE_WIDTH);
  const height = directory?.values.get(IMAGE_LENGTH);
  if (!directory || !width || !height) throw new UnreadableImageError("has a damaged TIFF header");
  const orientation = orientationOf(directory.values.get(ORIENTATION));
  return {
    format: "tiff",
    ...(isSideways(orientation) ? { width: height, height: width } : { width, height }),
    frames: directory.hasNext ? 2 : 1,
    hasAlpha: directory.values.has(EXTRA_SAMPLES),
    ...(orientation && { orientation }),
  };
}

const IMAGE_WIDTH = 256;
const IMAGE_LENGTH = 257;
const EXTRA_SAMPLES = 338;

/** Reads the orientation in Exif data, which is a TIFF structure. Undefined when upright or unreadable. */
export async function readOrientation(bytes: TiffBytes): Promise<Orientation | undefined> {
  return orientationOf((await readDirectory(bytes))?.values.get(ORIENTATION));
}

/** Returns the orientation for the value of its tag. Undefined for 1 (upright) and for invalid values. */
function orientationOf(value: number | undefined): Orientation | undefined {
  return ORIENTATIONS.find((known) => known === value);
}

/** Maximum number of bytes that are read from an Exif structure. */
export const MAX_EXIF_READ = 4096;

/** Returns a function that reads Exif data in a view. The data starts at `offset`. */
export function exifIn(view: DataView, offset: number): TiffBytes {
  return async (at, count) =>
    offset + at + count <= view.byteLength
      ? new DataView(view.buffer, view.byteOffset + offset + at, count)
      : null;
}

const ORIENTATION = 0x0112;
const ORIENTATIONS: readonly Orientation[] = [2, 3, 4, 5, 6, 7, 8];

/** Reads bytes of a TIFF structure at an offset. Returns null beyond the end of the structure. */
export type TiffBytes = (offset: number, length: number) => Promise<DataView | null>;

/**
 * Returns the values of the first directory, by tag. Reads only tags of type short or long, each as one value. Returns
 * null for a damaged structure. Source: TIFF 6.0, section 2.
 */
async function readDirectory(
  bytes: TiffBytes,
): Promise<{ values: Map<number, number>; hasNext: boolean } | null> {
  const head = await bytes(0, 8);
  if (!head) return null;
  const isLittle = head.getUint16(0) === LITTLE_ENDIAN;
  if (!isLittle && head.getUint16(0) !== BIG_ENDIAN) return null;
  const start = head.getUint32(4, isLittle);
  const count = (await bytes(start, 2))?.getUint16(0, isLittle) ?? 0;
  if (head.getUint16(2, isLittle) !== 42 || count === 0 || count > MAX_ENTRIES) return null;
  const values = new Map<number, number>();
  const entries = await bytes(start + 2, count * ENTRY_BYTES);
  if (!entries) return null;
  for (let at = 0; at < entries.byteLength; at += ENTRY_BYTES) {
    const type = entries.getUint16(at + 2, isLittle);
    const tag = entries.getUint16(at, isLittle);
    if (type === SHORT) values.set(tag, entries.getUint16(at + 8, isLittle));
    if (type === LONG) values.set(tag, entries.getUint32(at + 8, isLittle));
  }
  const next = await bytes(start + 2 + count * ENTRY_BYTES, 4);
  return { values, hasNext: (next?.getUint32(0) ?? 0) !== 0 };
}

const LITTLE_ENDIAN = 0x4949;
const BIG_ENDIAN = 0x4d4d;
const SHORT = 3;
const LONG = 4;
const ENTRY_BYTES = 12;
const MAX_ENTRIES = 200;
