import {
  type HeaderReader,
  type ImageHeader,
  isSideways,
  type Orientation,
  textAt,
  UnreadableImageError,
} from "../header-reader.ts";
import { exifIn, MAX_EXIF_READ, readOrientation } from "./tiff.ts";

/**
 * Reads the header of a PNG. `IHDR` contains size and colour type. `tRNS` (transparency) and `acTL` (animation) come
 * before the first `IDAT`. `eXIf` (orientation) comes before or after `IDAT`. Source: PNG specification, third edition,
 * chapters 5 and 11.
 */
export async function readPng(reader: HeaderReader): Promise<ImageHeader> {
  const view = await reader.bytes(8, 25);
  const bytes = new Uint8Array(view.buffer, view.byteOffset + 4, 17);
  const isHeader = view.getUint32(0) === 13 && textAt(view, 4, 4) === "IHDR";
  if (!isHeader || Bun.hash.crc32(bytes) !== view.getUint32(21))
    throw new UnreadableImageError("has a damaged PNG header");
  const colourType = view.getUint8(17);
  const isLegal =
    DEPTHS[colourType]?.includes(view.getUint8(16)) && view.getUint16(18) === 0 && view.getUint8(20) < 2;
  if (!isLegal) throw new UnreadableImageError("has a damaged PNG header");
  const { frames, hasTransparency, orientation } = await walkChunks(reader);
  const [width, height] = [view.getUint32(8), view.getUint32(12)];
  return {
    format: "png",
    ...(isSideways(orientation) ? { width: height, height: width } : { width, height }),
    frames,
    hasAlpha: colourType === GREY_WITH_ALPHA || colourType === COLOUR_WITH_ALPHA || hasTransparency,
    ...(orientation && { orientation }),
  };
}

const GREY_WITH_ALPHA = 4;
const COLOUR_WITH_ALPHA = 6;

/** The valid bit depths of each colour type. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  [GREY_WITH_ALPHA]: [8, 16],
  [COLOUR_WITH_ALPHA]: [8, 16],
};

const FIRST_CHUNK = 33;
const CHUNK_FRAME = 12;

interface Chunks {
  frames: number;
  hasTransparency: boolean;
  orientation: Orientation | undefined;
}

async function walkChunks(reader: HeaderReader): Promise<Chunks> {
  const found: Chunks = { frames: 1, hasTransparency: false, orientation: undefined };
  let hasData = false;
  let offset = FIRST_CHUNK;
  for (;;) {
    // A file that ends after the data is no error here: `whole.ts` checks that the file is complete.
    const chunk = hasData ? await reader.peek(offset, 8) : await reader.bytes(offset, 8);
    const type = chunk ? textAt(chunk, 4, 4) : "IEND";
    if (type === "IDAT") hasData = true;
    else if (type === "IEND" || !/^[A-Za-z]{4}$/.test(type)) {
      if (hasData) return found;
      throw new UnreadableImageError("has a damaged PNG header");
    }
    const length = chunk?.getUint32(0) ?? 0;
    if (type === "tRNS" && !hasData) found.hasTransparency = true;
    if (type === "acTL" && !hasData)
      found.frames = Math.max(1, (await reader.bytes(offset + 8, 4)).getUint32(0));
    if (type === "eXIf") found.orientation = await readExif(reader, offset + 8, length);
    offset += CHUNK_FRAME + length;
  }
}

async function readExif(
  reader: HeaderReader,
  offset: number,
  length: number,
): Promise<Orientation | undefined> {
  const view = await reader.peek(offset, Math.min(length, MAX_EXIF_READ));
  return view ? await readOrientation(exifIn(view, 0)) : undefined;
}
