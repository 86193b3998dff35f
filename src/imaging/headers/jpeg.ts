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
 * Reads the header of a JPEG: all segments before the first scan. The frame header contains the size. The first Exif
 * segment with an orientation applies, whether it comes before or after the frame header. Source: ITU-T T.81 annex B,
 * Exif 2.32 section 4.6.
 */
export async function readJpeg(reader: HeaderReader): Promise<ImageHeader> {
  let offset = 2;
  let frame: Frame | undefined;
  let orientation: Orientation | undefined;
  for (;;) {
    const marker = frame
      ? await findMarker(reader, offset).catch(() => null)
      : await findMarker(reader, offset);
    const code = marker?.code ?? START_OF_SCAN;
    if (!marker || code === START_OF_SCAN || code === END_OF_IMAGE) return headerOf(frame, orientation);
    if (isStandalone(code)) {
      offset = marker.end;
      continue;
    }
    const length = (await reader.peek(marker.end, 2))?.getUint16(0) ?? 0;
    if (length < 2) return headerOf(frame, orientation);
    if (isFrameHeader(code)) frame ??= await readFrame(reader, marker.end + 2);
    if (code === APP1) orientation ??= await readExif(reader, marker.end + 2, length - 2);
    offset = marker.end + length;
  }
}

interface Frame {
  width: number;
  height: number;
  components: number;
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const APP1 = 0xe1;
const EXIF = "Exif\0\0";
/** Number of colour components of a CMYK picture: cyan, magenta, yellow and black. */
const INKS = 4;

/** Maximum number of extra bytes between two segments. Decoders skip extra bytes, which occur in damaged files. */
const MAX_STRAY_BYTES = 256;

async function findMarker(reader: HeaderReader, from: number): Promise<{ code: number; end: number }> {
  for (let offset = from; offset < from + MAX_STRAY_BYTES; offset += 1) {
    const view = await reader.bytes(offset, 2);
    const code = view.getUint8(1);
    if (view.getUint8(0) === 0xff && code !== 0xff && code !== 0) return { code, end: offset + 2 };
  }
  throw new UnreadableImageError("has a damaged JPEG header");
}

/** True for markers without a length: TEM, restart markers and a repeated start of image. */
function isStandalone(code: number): boolean {
  return code === 0x01 || (code >= 0xd0 && code <= 0xd8);
}

/**
 * True for SOF0 to SOF15, including progressive and lossless frames. DHT, JPG and DAC have codes in the same range but
 * are not frames.
 */
function isFrameHeader(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
}

async function readFrame(reader: HeaderReader, offset: number): Promise<Frame> {
  const view = await reader.bytes(offset, 6);
  return { height: view.getUint16(1), width: view.getUint16(3), components: view.getUint8(5) };
}

function headerOf(frame: Frame | undefined, orientation: Orientation | undefined): ImageHeader {
  if (!frame) throw new UnreadableImageError("has a damaged JPEG header");
  const { width, height, components } = frame;
  return {
    format: "jpeg",
    ...(isSideways(orientation) ? { width: height, height: width } : { width, height }),
    frames: 1,
    hasAlpha: false,
    ...(orientation && { orientation }),
    ...(components === INKS && { isUnusual: true }),
  };
}

async function readExif(
  reader: HeaderReader,
  offset: number,
  length: number,
): Promise<Orientation | undefined> {
  const view = await reader.peek(offset, Math.min(length, MAX_EXIF_READ));
  if (!view || view.byteLength < EXIF.length || textAt(view, 0, EXIF.length) !== EXIF) return undefined;
  return await readOrientation(exifIn(view, EXIF.length));
}
