import { textAt, UnreadableImageError, type HeaderReader, type ImageHeader } from "../header-reader.ts";
import { readDirectory, type TiffBytes } from "./tiff.ts";

/**
 * JPEG: skips the segments up to the frame header, which has the size; Exif before it may rotate the picture.
 * Source: ITU-T T.81 annex B, Exif 2.32 section 4.6.
 */
export async function readJpeg(reader: HeaderReader): Promise<ImageHeader> {
  let offset = 2;
  let isTurned = false;
  for (;;) {
    const marker = await findMarker(reader, offset);
    const { code } = marker;
    if (isStandalone(code)) {
      offset = marker.end;
      continue;
    }
    if (code === START_OF_SCAN || code === END_OF_IMAGE)
      throw new UnreadableImageError("has a damaged JPEG header");
    const length = (await reader.bytes(marker.end, 2)).getUint16(0);
    if (length < 2) throw new UnreadableImageError("has a damaged JPEG header");
    if (isFrameHeader(code)) {
      const frame = await reader.bytes(marker.end + 2, 6);
      const [height, width] = [frame.getUint16(1), frame.getUint16(3)];
      const size = isTurned ? { width: height, height: width } : { width, height };
      return { format: "jpeg", ...size, frames: 1, hasAlpha: false };
    }
    if (code === APP1) isTurned = await readsTurned(reader, marker.end + 2, length - 2, isTurned);
    offset = marker.end + length;
  }
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const APP1 = 0xe1;
const EXIF = "Exif\0\0";
const ORIENTATION = 0x0112;

/** Damaged files have a few stray bytes between segments, which decoders skip. */
const MAX_STRAY_BYTES = 256;
const MAX_EXIF_READ = 2048;

async function findMarker(reader: HeaderReader, from: number): Promise<{ code: number; end: number }> {
  for (let offset = from; offset < from + MAX_STRAY_BYTES; offset += 1) {
    const view = await reader.bytes(offset, 2);
    const code = view.getUint8(1);
    if (view.getUint8(0) === 0xff && code !== 0xff && code !== 0) return { code, end: offset + 2 };
  }
  throw new UnreadableImageError("has a damaged JPEG header");
}

/** TEM, the restart markers and a repeated start: markers without a length. */
function isStandalone(code: number): boolean {
  return code === 0x01 || (code >= 0xd0 && code <= 0xd8);
}

/** SOF0 to SOF15, also progressive and lossless, without DHT, JPG and DAC in that range. */
function isFrameHeader(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
}

/** Whether Exif has a rotation by a quarter turn (orientations 5 to 8). Unreadable Exif is ignored. */
async function readsTurned(
  reader: HeaderReader,
  offset: number,
  length: number,
  unless: boolean,
): Promise<boolean> {
  const view = await reader.peek(offset, Math.min(length, MAX_EXIF_READ));
  if (!view || view.byteLength < EXIF.length || textAt(view, 0, EXIF.length) !== EXIF) return unless;
  const bytes: TiffBytes = async (at, count) =>
    EXIF.length + at + count <= view.byteLength
      ? new DataView(view.buffer, view.byteOffset + EXIF.length + at, count)
      : null;
  const orientation = (await readDirectory(bytes))?.values.get(ORIENTATION) ?? 1;
  return orientation >= 5 && orientation <= 8;
}
