import { textAt, UnreadableImageError, type HeaderReader, type ImageHeader } from "../header-reader.ts";

/**
 * PNG: `IHDR` has size and colour type; `tRNS` (transparency) and `acTL` (animation) precede the first `IDAT`.
 * Source: PNG specification, third edition, chapters 5 and 11.
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
  const { frames, hasTransparency } = await walkChunks(reader);
  return {
    format: "png",
    width: view.getUint32(8),
    height: view.getUint32(12),
    frames,
    hasAlpha: colourType === GREY_WITH_ALPHA || colourType === COLOUR_WITH_ALPHA || hasTransparency,
  };
}

const GREY_WITH_ALPHA = 4;
const COLOUR_WITH_ALPHA = 6;

/** Bit depths each colour type allows. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  [GREY_WITH_ALPHA]: [8, 16],
  [COLOUR_WITH_ALPHA]: [8, 16],
};

const FIRST_CHUNK = 33;
const CHUNK_FRAME = 12;

async function walkChunks(reader: HeaderReader): Promise<{ frames: number; hasTransparency: boolean }> {
  let frames = 1;
  let hasTransparency = false;
  let offset = FIRST_CHUNK;
  for (;;) {
    const chunk = await reader.bytes(offset, 8);
    const type = textAt(chunk, 4, 4);
    if (type === "IDAT") return { frames, hasTransparency };
    if (type === "IEND" || !/^[A-Za-z]{4}$/.test(type))
      throw new UnreadableImageError("has a damaged PNG header");
    if (type === "tRNS") hasTransparency = true;
    const length = chunk.getUint32(0);
    if (type === "acTL") frames = Math.max(1, (await reader.bytes(offset + 8, 4)).getUint32(0));
    offset += CHUNK_FRAME + length;
  }
}
