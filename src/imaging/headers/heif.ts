import { textAt, UnreadableImageError, type HeaderReader, type ImageHeader } from "../header-reader.ts";

/**
 * Reads the header of a HEIC or AVIF, which consists of nested boxes. `ftyp` contains the format, `meta/pitm` the
 * number of the main picture, and `meta/iprp` the properties of this picture, such as its size. Sources: ISO/IEC
 * 14496-12 section 4.2, 23008-12 sections 6.5 and 9.3.
 */
export async function readHeif(reader: HeaderReader): Promise<ImageHeader> {
  const type = await boxAt(reader, 0, reader.size);
  const brands = await readBrands(reader, type);
  const format = brands.some((brand) => AVIF.has(brand)) ? "avif" : "heic";
  const meta = await childNamed(reader, "meta", 0, reader.size);
  const primary = await primaryItem(reader, meta);
  const properties = await childNamed(reader, "iprp", meta.start + FULL_BOX_FLAGS, meta.end);
  const container = await childNamed(reader, "ipco", properties.start, properties.end);
  const all: Box[] = [];
  for await (const box of boxesIn(reader, container.start, container.end)) all.push(box);
  const own = (await propertiesOf(reader, properties, primary)).map((index) => all[index - 1]);
  return {
    format,
    ...(await displayedSize(reader, own)),
    ...((await isDisplayP3(reader, own)) && { isDisplayP3: true }),
    hasAlpha: await someAlpha(reader, all),
    frames: SEQUENCES.has(brands[0] ?? "") ? 2 : 1,
  };
}

/** True when `brand`, the text at offset 8 of a file, is a brand of HEIC or AVIF. */
export function isHeifBrand(brand: string): boolean {
  return AVIF.has(brand) || HEIC.has(brand);
}

interface Box {
  type: string;
  /** Offset of the first byte of the box's content. `end` is the offset after the last byte. */
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
const MAX_ITEMS = 2 ** 16;

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

/** Returns the brands of a file: the major brand first, then the compatible brands. */
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

async function primaryItem(reader: HeaderReader, meta: Box): Promise<number> {
  const { start } = await childNamed(reader, "pitm", meta.start + FULL_BOX_FLAGS, meta.end);
  const isLong = (await reader.bytes(start, 1)).getUint8(0) > 0;
  return await numberAt(reader, start + FULL_BOX_FLAGS, isLong ? 4 : 2);
}

/** Returns the numbers of an item's properties, in order. Numbers start at 1. */
async function propertiesOf(reader: HeaderReader, properties: Box, item: number): Promise<number[]> {
  for await (const box of boxesIn(reader, properties.start, properties.end)) {
    if (box.type !== "ipma") continue;
    const head = await reader.bytes(box.start, 8);
    const idBytes = head.getUint8(0) > 0 ? 4 : 2;
    const indexBytes = (head.getUint8(3) & 1) === 1 ? 2 : 1;
    let at = box.start + 8;
    for (let left = Math.min(head.getUint32(4), MAX_ITEMS); left > 0; left -= 1) {
      const id = await numberAt(reader, at, idBytes);
      const count = await numberAt(reader, at + idBytes, 1);
      at += idBytes + 1;
      if (id === item) return indexesIn(await reader.bytes(at, count * indexBytes), indexBytes);
      at += count * indexBytes;
    }
  }
  throw damaged();
}

/** Reads indexes of properties. The highest bit is not part of the index: it marks a property as essential. */
function indexesIn(view: DataView, bytes: 1 | 2): number[] {
  return Array.from({ length: view.byteLength / bytes }, (_, index) =>
    bytes === 2 ? view.getUint16(index * 2) & 0x7fff : view.getUint8(index) & 0x7f,
  );
}

/** Returns the displayed size. The stored size may be larger: `clap` crops the picture, and then `irot` rotates it. */
async function displayedSize(
  reader: HeaderReader,
  properties: readonly (Box | undefined)[],
): Promise<{ width: number; height: number }> {
  let [width, height] = [0, 0];
  for (const box of properties) {
    if (box?.type === "ispe") {
      const size = await reader.bytes(box.start + FULL_BOX_FLAGS, 8);
      [width, height] = [size.getUint32(0), size.getUint32(4)];
    } else if (box?.type === "clap") {
      const clip = await reader.bytes(box.start, 16);
      const edge = (offset: number) => Math.round(clip.getUint32(offset) / clip.getUint32(offset + 4));
      [width, height] = [Math.min(width, edge(0)), Math.min(height, edge(8))];
    } else if (box?.type === "irot" && ((await numberAt(reader, box.start, 1)) & 1) === 1)
      [width, height] = [height, width];
  }
  if (!(width > 0 && height > 0)) throw damaged();
  return { width, height };
}

/**
 * True when the code points mean the colours of Display P3: its primaries with the curve of sRGB. Ignores profiles.
 * Source: ISO/IEC 23091-2 sections 8.1 and 8.2.
 */
async function isDisplayP3(reader: HeaderReader, properties: readonly (Box | undefined)[]): Promise<boolean> {
  for (const box of properties) {
    if (box?.type !== "colr" || box.end - box.start < 8) continue;
    const colours = await reader.bytes(box.start, 8);
    const isCodePoints = textAt(colours, 0, 4) === "nclx";
    if (isCodePoints && colours.getUint16(4) === P3_PRIMARIES && colours.getUint16(6) === SRGB_CURVE)
      return true;
  }
  return false;
}

const P3_PRIMARIES = 12;
const SRGB_CURVE = 13;

async function someAlpha(reader: HeaderReader, boxes: readonly Box[]): Promise<boolean> {
  for (const box of boxes) if (box.type === "auxC" && (await isAlpha(reader, box))) return true;
  return false;
}

/** Reads an unsigned number of one, two or four bytes. */
async function numberAt(reader: HeaderReader, offset: number, bytes: 1 | 2 | 4): Promise<number> {
  const view = await reader.bytes(offset, bytes);
  return bytes === 1 ? view.getUint8(0) : bytes === 2 ? view.getUint16(0) : view.getUint32(0);
}

/** True for an auxiliary picture with alpha. Its type is a text in the box. Depth and gain maps have other types. */
async function isAlpha(reader: HeaderReader, { start, end }: Box): Promise<boolean> {
  const view = await reader.peek(start + FULL_BOX_FLAGS, Math.min(end - start - FULL_BOX_FLAGS, 64));
  return view !== null && ALPHA_TYPES.some((type) => textAt(view, 0, view.byteLength).startsWith(type));
}

function damaged(): UnreadableImageError {
  return new UnreadableImageError("has a damaged HEIC or AVIF header");
}
