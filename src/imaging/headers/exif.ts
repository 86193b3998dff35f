import type { Orientation } from "../header-reader.ts";
import { readDirectory, type TiffBytes } from "./tiff-directory.ts";

/** Reads the orientation in Exif data, which is a TIFF structure; undefined when it is upright or unreadable. */
export async function readOrientation(bytes: TiffBytes): Promise<Orientation | undefined> {
  return orientationOf((await readDirectory(bytes))?.values.get(ORIENTATION));
}

/** Returns the value of the orientation tag; undefined for 1 and for invalid values. */
export function orientationOf(value: number | undefined): Orientation | undefined {
  return ORIENTATIONS.find((known) => known === value);
}

/** Most bytes of an Exif structure that are read. */
export const MAX_EXIF_READ = 4096;

/** Reads Exif data in a view, from `offset` on. */
export function exifIn(view: DataView, offset: number): TiffBytes {
  return async (at, count) =>
    offset + at + count <= view.byteLength
      ? new DataView(view.buffer, view.byteOffset + offset + at, count)
      : null;
}

export const ORIENTATION = 0x0112;
const ORIENTATIONS: readonly Orientation[] = [2, 3, 4, 5, 6, 7, 8];
