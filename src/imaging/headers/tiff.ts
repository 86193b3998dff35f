import { type HeaderReader, type ImageHeader, isSideways, UnreadableImageError } from "../header-reader.ts";
import { ORIENTATION, orientationOf } from "./exif.ts";
import { readDirectory } from "./tiff-directory.ts";

/**
 * TIFF: the first directory has the size; a second one is another page. Source: TIFF 6.0, section 2.
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
