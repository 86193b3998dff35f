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
 * Reads the header of a WebP: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`). The canvas of an extended WebP
 * without animation must have the size of the picture inside it. Sources: WebP container specification, RFC 6386
 * section 9.1, WebP lossless section 3.
 */
export async function readWebp(reader: HeaderReader): Promise<ImageHeader> {
  if ((await reader.bytes(0, 8)).getUint32(4, true) + 8 > reader.size)
    throw new UnreadableImageError("is cut off");
  const type = textAt(await reader.bytes(FIRST_CHUNK, 8), 0, 4);
  if (type !== "VP8X") return header(await readBitstream(reader, FIRST_CHUNK));
  const extended = await reader.bytes(FIRST_CHUNK + 8, 10);
  const flags = extended.getUint8(0);
  const canvas = { width: uint24(extended, 4) + 1, height: uint24(extended, 7) + 1 };
  const hasAlpha = (flags & ALPHA) !== 0;
  if (flags & ANIMATION) return { ...header({ ...canvas, hasAlpha }), frames: 2 };
  const inside = await readBitstream(reader, await findPicture(reader));
  if (inside.width !== canvas.width || inside.height !== canvas.height)
    throw new UnreadableImageError("has a damaged WebP header");
  const upright = header({ ...inside, hasAlpha: hasAlpha || inside.hasAlpha });
  const orientation = flags & EXIF ? await findOrientation(reader) : undefined;
  if (!orientation) return upright;
  const { width, height } = canvas;
  return { ...upright, ...(isSideways(orientation) && { width: height, height: width }), orientation };
}

type Bitstream = Pick<ImageHeader, "width" | "height" | "hasAlpha" | "isLossless">;

const FIRST_CHUNK = 12;
const ALPHA = 0x10;
const ANIMATION = 0x02;
const EXIF = 0x08;
/** The name of Exif segments in JPEG. Some writers also put this name before the Exif data of a WebP. */
const EXIF_NAME = "Exif\0\0";
const VP8_START_CODE = 0x9d012a;
const VP8L_SIGNATURE = 0x2f;

function header(picture: Bitstream): ImageHeader {
  return { format: "webp", ...picture, frames: 1 };
}

async function findPicture(reader: HeaderReader): Promise<number> {
  let offset = FIRST_CHUNK;
  for (;;) {
    const chunk = await reader.bytes(offset, 8);
    const type = textAt(chunk, 0, 4);
    if (type === "VP8 " || type === "VP8L") return offset;
    offset += chunkBytes(chunk);
  }
}

/** Finds the orientation. The Exif chunk usually follows the picture. */
async function findOrientation(reader: HeaderReader): Promise<Orientation | undefined> {
  let offset = FIRST_CHUNK;
  for (;;) {
    const chunk = await reader.peek(offset, 8);
    if (!chunk) return undefined;
    if (textAt(chunk, 0, 4) === "EXIF") {
      const view = await reader.peek(offset + 8, Math.min(chunk.getUint32(4, true), MAX_EXIF_READ));
      if (!view) return undefined;
      const isNamed = view.byteLength >= 6 && textAt(view, 0, 6) === EXIF_NAME;
      return await readOrientation(exifIn(view, isNamed ? 6 : 0));
    }
    offset += chunkBytes(chunk);
  }
}

/** Returns the number of bytes of a chunk, with the padding to an even length. */
function chunkBytes(chunk: DataView): number {
  const length = chunk.getUint32(4, true);
  return 8 + length + (length % 2);
}

async function readBitstream(reader: HeaderReader, offset: number): Promise<Bitstream> {
  const type = textAt(await reader.bytes(offset, 4), 0, 4);
  const data = await reader.bytes(offset + 8, 10);
  if (type === "VP8L" && data.getUint8(0) === VP8L_SIGNATURE) {
    const bits = data.getUint32(1, true);
    if (bits >>> 29 === 0)
      return {
        width: (bits & 0x3fff) + 1,
        height: ((bits >>> 14) & 0x3fff) + 1,
        hasAlpha: ((bits >>> 28) & 1) === 1,
        isLossless: true,
      };
  }
  const isKeyFrame = (data.getUint8(0) & 1) === 0;
  if (type === "VP8 " && isKeyFrame && (data.getUint32(2) & 0xffffff) === VP8_START_CODE)
    return {
      width: data.getUint16(6, true) & 0x3fff,
      height: data.getUint16(8, true) & 0x3fff,
      hasAlpha: false,
    };
  throw new UnreadableImageError("has a damaged WebP header");
}

/** Reads a number of three bytes. The least significant byte comes first. */
function uint24(view: DataView, offset: number): number {
  return view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
}
