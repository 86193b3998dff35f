import { textAt, UnreadableImageError, type HeaderReader, type ImageHeader } from "../header-reader.ts";

/**
 * HEIC and AVIF: nested boxes; `ftyp` names the format, the largest `ispe` under `meta/iprp/ipco` is the picture
 * (smaller ones are tiles and thumbnails). Sources: ISO/IEC 14496-12 section 4.2, 23008-12 section 6.5.
 */
export async function readHeif(reader: HeaderReader): Promise<ImageHeader> {
  const type = await boxAt(reader, 0, reader.size);
  const brands = await readBrands(reader, type);
  const format = brands.some((brand) => AVIF.has(brand)) ? "avif" : "heic";
  const meta = await childNamed(reader, "meta", 0, reader.size);
  const properties = await childNamed(reader, "iprp", meta.start + FULL_BOX_FLAGS, meta.end);
  const container = await childNamed(reader, "ipco", properties.start, properties.end);
  const picture = await largestPicture(reader, container);
  if (!picture) throw damaged();
  return { format, ...picture, frames: SEQUENCES.has(brands[0] ?? "") ? 2 : 1 };
}

/** Whether a box of brands makes a file a HEIC or AVIF picture; reads the bytes at offset 4 to 12. */
export function isHeifBrand(brand: string): boolean {
  return AVIF.has(brand) || HEIC.has(brand);
}

interface Box {
  type: string;
  /** Offsets of its content. */
  start: number;
  end: number;
}

const AVIF: ReadonlySet<string> = new Set(["avif", "avis"]);
const HEIC: ReadonlySet<string> = new Set("heic heix heim heis hevc hevx mif1 msf1".split(" "));
const SEQUENCES: ReadonlySet<string> = new Set(["avis", "hevc", "hevx", "msf1"]);
const ALPHA_TYPES = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"];
const FULL_BOX_FLAGS = 4;
const MAX_BRANDS = 64;
const MAX_BOXES = 512;

async function boxAt(reader: HeaderReader, offset: number, limit: number): Promise<Box> {
  const head = await reader.bytes(offset, 8);
  const short = head.getUint32(0);
  const type = textAt(head, 4, 4);
  const isLong = short === 1;
  const length = isLong
    ? Number((await reader.bytes(offset + 8, 8)).getBigUint64(0))
    : short || limit - offset;
  const start = offset + (isLong ? 16 : 8);
  const end = offset + length;
  if (end < start || end > limit) throw damaged();
  return { type, start, end };
}

/** The major brand first, then the compatible ones. */
async function readBrands(reader: HeaderReader, box: Box): Promise<string[]> {
  const length = Math.min(box.end - box.start, MAX_BRANDS * 4);
  if (length < 4) throw damaged();
  const view = await reader.bytes(box.start, length - (length % 4));
  const words = Array.from({ length: view.byteLength / 4 }, (_, index) => textAt(view, index * 4, 4));
  return words.filter((_, index) => index !== 1);
}

async function* boxesIn(reader: HeaderReader, start: number, end: number): AsyncGenerator<Box> {
  let offset = start;
  for (let count = 0; offset < end && count < MAX_BOXES; count += 1) {
    const box = await boxAt(reader, offset, end);
    yield box;
    offset = box.end;
  }
}

async function childNamed(reader: HeaderReader, type: string, start: number, end: number): Promise<Box> {
  for await (const box of boxesIn(reader, start, end)) if (box.type === type) return box;
  throw damaged();
}

async function largestPicture(
  reader: HeaderReader,
  container: Box,
): Promise<{ width: number; height: number; hasAlpha: boolean } | null> {
  let largest = { width: 0, height: 0 };
  let isTurned = false;
  let hasAlpha = false;
  for await (const box of boxesIn(reader, container.start, container.end)) {
    if (box.type === "ispe") {
      const view = await reader.bytes(box.start + FULL_BOX_FLAGS, 8);
      const size = { width: view.getUint32(0), height: view.getUint32(4) };
      if (size.width * size.height > largest.width * largest.height) largest = size;
    }
    if (box.type === "irot") isTurned = ((await reader.bytes(box.start, 1)).getUint8(0) & 1) === 1;
    if (box.type === "auxC" && (await isAlpha(reader, box))) hasAlpha = true;
  }
  const { width, height } = largest;
  if (width === 0) return null;
  return { ...(isTurned ? { width: height, height: width } : largest), hasAlpha };
}

/** The type of an auxiliary picture is a text; those of depth or gain are not alpha. */
async function isAlpha(reader: HeaderReader, { start, end }: Box): Promise<boolean> {
  const view = await reader.peek(start + FULL_BOX_FLAGS, Math.min(end - start - FULL_BOX_FLAGS, 64));
  return view !== null && ALPHA_TYPES.some((type) => textAt(view, 0, view.byteLength).startsWith(type));
}

function damaged(): UnreadableImageError {
  return new UnreadableImageError("has a damaged HEIC or AVIF header");
}
