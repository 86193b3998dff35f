import { ByteCursor, type ImageHeader, textAt, UnreadableImageError } from "./header-reader.ts";
import { walkHeif } from "./structure/heif.ts";

/**
 * Checks the structure of a whole picture without decoding pixels. The time is proportional to the number of bytes.
 * Throws an `UnreadableImageError` for a truncated or damaged file. Does not check TIFF and BMP.
 */
export async function requireWhole(image: Blob, format: ImageHeader["format"]): Promise<void> {
  using cursor = new ByteCursor(image);
  await WALKS[format]?.(cursor);
}

const WALKS: Readonly<Partial<Record<ImageHeader["format"], (cursor: ByteCursor) => Promise<void>>>> = {
  png: walkPng,
  jpeg: walkJpeg,
  webp: walkWebp,
  gif: walkGif,
  heic: walkHeif,
  avif: walkHeif,
};

/**
 * Checks a PNG: every chunk up to `IEND`, with its checksum. The checksums also prove that the compressed pixels are
 * intact. Ignores bytes after the end. Source: PNG specification, third edition, section 5.3.
 */
async function walkPng(cursor: ByteCursor): Promise<void> {
  cursor.advance(SIGNATURE_BYTES);
  for (;;) {
    const head = await cursor.take(8);
    if (!head) throw cutOff();
    const length = head.getUint32(0);
    const type = textAt(head, 4, 4);
    let checksum = Bun.hash.crc32(new Uint8Array(head.buffer, head.byteOffset + 4, 4));
    for await (const piece of cursor.pieces(length)) checksum = Bun.hash.crc32(piece, checksum);
    const stored = await cursor.take(4);
    if (!stored) throw cutOff();
    // Ancillary chunks have a type that starts with a lowercase letter. Decoders skip a damaged ancillary chunk.
    if (stored.getUint32(0) !== checksum && /^[A-Z]/.test(type))
      throw new UnreadableImageError("is damaged: a checksum is wrong");
    if (type === "IEND") return;
  }
}

const SIGNATURE_BYTES = 8;

function cutOff(): UnreadableImageError {
  return new UnreadableImageError("is cut off");
}

/**
 * Checks a GIF: every block up to the end of the first picture's data. Source: GIF89a specification, sections 15 to 27.
 */
async function walkGif(cursor: ByteCursor): Promise<void> {
  const screen = await cursor.take(13);
  let isWhole = screen !== null && cursor.advance(colourTableBytes(screen.getUint8(10)));
  while (isWhole) {
    const kind = await cursor.byte();
    if (kind === PICTURE) {
      const picture = await cursor.take(9);
      isWhole = picture !== null && cursor.advance(colourTableBytes(picture.getUint8(8)) + 1);
      if (isWhole && (await skipData(cursor))) return;
      break;
    }
    isWhole = kind === EXTENSION && cursor.advance(1) && (await skipData(cursor));
  }
  throw cutOff();
}

const EXTENSION = 0x21;
const PICTURE = 0x2c;

/** Skips sub-blocks up to and including the empty sub-block at their end. Returns false when the file ends earlier. */
async function skipData(cursor: ByteCursor): Promise<boolean> {
  for (;;) {
    const length = await cursor.byte();
    if (length === null || !cursor.advance(length)) return false;
    if (length === 0) return true;
  }
}

/** Returns the number of bytes of a colour table. `packed` is the field that declares the table. */
function colourTableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}

/**
 * Checks a WebP: its chunks must fill exactly the length in the file header, and there must be a picture chunk. Source:
 * WebP container specification.
 */
async function walkWebp(cursor: ByteCursor): Promise<void> {
  const riff = await cursor.take(12);
  const end = riff ? riff.getUint32(4, true) + 8 : Number.POSITIVE_INFINITY;
  let hasPicture = false;
  while (cursor.offset < end) {
    const head = await cursor.take(8);
    if (!head) throw cutOff();
    const length = head.getUint32(4, true);
    const type = textAt(head, 0, 4);
    const isLast = cursor.offset + length === end;
    // Some writers omit the padding of the last chunk.
    if (!cursor.advance(isLast ? length : length + (length % 2)) || cursor.offset > end) throw cutOff();
    if (PICTURES.has(type)) hasPicture = true;
  }
  if (!hasPicture) throw new UnreadableImageError("is damaged: it has no picture");
}

const PICTURES: ReadonlySet<string> = new Set(["VP8 ", "VP8L", "ANMF"]);

/**
 * Checks a JPEG: every segment and scan up to the end marker, which is missing in a truncated file. In a scan, a zero
 * follows each byte of 255 that is not a marker. Ignores bytes after the end. Source: ITU-T T.81 annex B.
 */
async function walkJpeg(cursor: ByteCursor): Promise<void> {
  cursor.advance(2);
  let hasScan = false;
  for (;;) {
    const code = await nextMarker(cursor);
    if (code === null) throw cutOff();
    if (code === END_OF_IMAGE) break;
    if (isStandalone(code)) continue;
    const length = (await cursor.take(2))?.getUint16(0) ?? 0;
    if (length < 2 || !cursor.advance(length - 2)) throw cutOff();
    if (code === START_OF_SCAN) hasScan = true;
  }
  if (!hasScan) throw new UnreadableImageError("is damaged: it has no picture");
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const ESCAPED = 0;
const FILL = 0xff;

/** Returns the code of the next marker, whether in a scan or between segments. Returns null at the end of the file. */
async function nextMarker(cursor: ByteCursor): Promise<number | null> {
  while (await cursor.seek(0xff, ESCAPED)) {
    let code = await cursor.byte();
    while (code === FILL) code = await cursor.byte();
    if (code !== ESCAPED) return code;
  }
  return null;
}

/** True for markers without a length: TEM, restart markers and a repeated start of image. */
function isStandalone(code: number): boolean {
  return code === 0x01 || (code >= 0xd0 && code <= 0xd8);
}
