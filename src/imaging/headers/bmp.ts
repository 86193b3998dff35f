import { UnreadableImageError, type HeaderReader, type ImageHeader } from "../header-reader.ts";

/**
 * Reads the header of a BMP. A negative height in the information header means that the top row is stored first. Only
 * pictures with three uncompressed bytes per pixel are usual; other pictures are converted. The two-letter signature is
 * weak, so planes and depth are checked too. Source: BITMAPINFOHEADER reference.
 */
export async function readBmp(reader: HeaderReader): Promise<ImageHeader> {
  const kind = (await reader.bytes(14, 4)).getUint32(0, true);
  const isCore = kind === CORE_HEADER;
  const view = await reader.bytes(18, isCore ? 8 : 12);
  const width = isCore ? view.getUint16(0, true) : view.getInt32(0, true);
  const height = isCore ? view.getUint16(2, true) : Math.abs(view.getInt32(4, true));
  const planes = view.getUint16(isCore ? 4 : 8, true);
  const depth = view.getUint16(isCore ? 6 : 10, true);
  if (!HEADER_SIZES.has(kind) || width < 1 || planes !== 1 || !DEPTHS.has(depth))
    throw new UnreadableImageError("has a damaged BMP header");
  const compression = isCore ? PLAIN : (await reader.bytes(30, 4)).getUint32(0, true);
  const isUsual = depth === 24 && compression === PLAIN;
  const hasAlpha = depth === 32 && kind >= MASKED_HEADER && (await hasAlphaMask(reader, compression));
  return { format: "bmp", width, height, frames: 1, hasAlpha, ...(!isUsual && { isUnusual: true }) };
}

const CORE_HEADER = 12;
const HEADER_SIZES: ReadonlySet<number> = new Set([CORE_HEADER, 40, 52, 56, 64, 108, 124]);
/** Size in bytes of the smallest header that contains a mask for the alpha bits. */
const MASKED_HEADER = 56;
const PLAIN = 0;
const BIT_FIELDS: ReadonlySet<number> = new Set([3, 6]);
const DEPTHS: ReadonlySet<number> = new Set([1, 4, 8, 16, 24, 32]);

async function hasAlphaMask(reader: HeaderReader, compression: number): Promise<boolean> {
  return BIT_FIELDS.has(compression) && (await reader.bytes(66, 4)).getUint32(0, true) !== 0;
}
