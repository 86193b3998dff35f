import { inflateSync } from "node:zlib";
import { type Chunk, DECODED, joinedData, readChunks } from "./chunks.ts";

/** The decoded pixels of a PNG, in its own channels and depth. */
export interface PngPixels {
  width: number;
  height: number;
  /** Bits of a channel: 1, 2, 4, 8 or 16. */
  depth: number;
  colourType: ColourType;
  /** The rows from top to bottom. Each row begins with its filter type, which is 0: no filter. */
  rows: Uint8Array;
  /** The chunks that determine colours, without `IHDR`, in the order of the file. */
  colours: Chunk[];
}

/** Colour types (PNG specification, third edition, table 11.1). */
export const GREY = 0;
export const COLOUR = 2;
export const PALETTE = 3;
export const GREY_WITH_ALPHA = 4;
export const COLOUR_WITH_ALPHA = 6;
export type ColourType =
  typeof GREY | typeof COLOUR | typeof PALETTE | typeof GREY_WITH_ALPHA | typeof COLOUR_WITH_ALPHA;

const CHANNELS: Readonly<Record<ColourType, number>> = {
  [GREY]: 1,
  [COLOUR]: 3,
  [PALETTE]: 1,
  [GREY_WITH_ALPHA]: 2,
  [COLOUR_WITH_ALPHA]: 4,
};

/** The size of pixels in bits. */
export function bitsOf({ depth, colourType }: Pick<PngPixels, "depth" | "colourType">): number {
  return depth * CHANNELS[colourType];
}

/** Returns the number of bytes from the start of a row to the start of the next row. */
export function strideOf(width: number, bits: number): number {
  return 1 + Math.ceil((width * bits) / 8);
}

/** Decodes a PNG with a valid header. Throws for damaged data and for over `MAX_SURPLUS` bytes after the pixels. */
export function readPixels(png: Uint8Array): PngPixels {
  const chunks = readChunks(png);
  const head = Buffer.from(chunks[0]?.data ?? []);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const colourType = head.readUInt8(9);
  if (!isColourType(colourType)) throw new RangeError("the colour type is unknown");
  const pixels = { width, height, depth: head.readUInt8(8), colourType };
  const bits = bitsOf(pixels);
  const passes = head.readUInt8(12) === 0 ? [{ x: 0, y: 0, across: 1, down: 1 }] : ADAM7;
  const sizes = passes.map((pass) => sizeOfPass(pass, width, height)).filter((each) => each.width > 0);
  const length = sizes.reduce((sum, each) => sum + strideOf(each.width, bits) * each.height, 0);
  const data = inflateSync(joinedData(chunks), { maxOutputLength: length + MAX_SURPLUS });
  if (data.length < length) throw new RangeError("the data ends before the last pixel");
  let start = 0;
  for (const size of sizes) {
    const end = start + strideOf(size.width, bits) * size.height;
    removeFilters(data.subarray(start, end), size.width, bits);
    start = end;
  }
  const rows = passes.length === 1 ? data.subarray(0, length) : weave(data, sizes, { width, height, bits });
  const colours = chunks.filter(({ type }) => DECODED.has(type) && !FRAME.has(type));
  return { ...pixels, rows, colours };
}

/** Maximum number of ignored bytes after the pixels. Decoders also ignore bytes after the pixels. */
const MAX_SURPLUS = 2 ** 16;
const FRAME: ReadonlySet<string> = new Set(["IHDR", "IDAT", "IEND"]);

function isColourType(value: number): value is ColourType {
  return value in CHANNELS;
}

/** One pass of an interlaced picture: its first pixel, and the steps between its pixels. */
interface Pass {
  x: number;
  y: number;
  across: number;
  down: number;
}

/** The seven passes of an interlaced picture (PNG specification, third edition, section 8.1). */
const ADAM7: readonly Pass[] = [
  { x: 0, y: 0, across: 8, down: 8 },
  { x: 4, y: 0, across: 8, down: 8 },
  { x: 0, y: 4, across: 4, down: 8 },
  { x: 2, y: 0, across: 4, down: 4 },
  { x: 0, y: 2, across: 2, down: 4 },
  { x: 1, y: 0, across: 2, down: 2 },
  { x: 0, y: 1, across: 1, down: 2 },
];

interface SizedPass extends Pass {
  width: number;
  height: number;
}

function sizeOfPass(pass: Pass, width: number, height: number): SizedPass {
  const own = {
    width: Math.ceil((width - pass.x) / pass.across),
    height: Math.ceil((height - pass.y) / pass.down),
  };
  // A pass without rows has no bytes, just like a pass without columns.
  return { ...pass, ...(own.width > 0 && own.height > 0 ? own : { width: 0, height: 0 }) };
}

/** Joins the passes of an interlaced picture. */
function weave(
  data: Uint8Array,
  passes: readonly SizedPass[],
  { width, height, bits }: { width: number; height: number; bits: number },
): Uint8Array {
  const stride = strideOf(width, bits);
  const rows = new Uint8Array(stride * height);
  const copy = pixelCopier(bits);
  let row = 0;
  for (const pass of passes) {
    for (let y = 0; y < pass.height; y += 1) {
      const start = (pass.y + y * pass.down) * stride + 1;
      for (let x = 0; x < pass.width; x += 1) copy(data, row + 1, x, rows, start, pass.x + x * pass.across);
      row += strideOf(pass.width, bits);
    }
  }
  return rows;
}

/** Copies a pixel from one row to another row. A row is named by the offset of its first pixel. */
type CopyPixel = (
  from: Uint8Array,
  fromRow: number,
  fromX: number,
  to: Uint8Array,
  toRow: number,
  toX: number,
) => void;

/** Returns a function that copies pixels of `bits` bits into rows whose bits are all zero. */
export function pixelCopier(bits: number): CopyPixel {
  if (bits < 8) {
    const mask = 2 ** bits - 1;
    return (from, fromRow, fromX, to, toRow, toX) => {
      const [bit, toBit] = [fromX * bits, toX * bits];
      const value = ((from[fromRow + (bit >> 3)] ?? 0) >> (8 - bits - (bit & 7))) & mask;
      const at = toRow + (toBit >> 3);
      to[at] = (to[at] ?? 0) | (value << (8 - bits - (toBit & 7)));
    };
  }
  const bytes = bits / 8;
  return (from, fromRow, fromX, to, toRow, toX) => {
    const [start, toStart] = [fromRow + fromX * bytes, toRow + toX * bytes];
    for (let index = 0; index < bytes; index += 1) to[toStart + index] = from[start + index] ?? 0;
  };
}

/** Undoes the filters of rows in place (PNG specification, third edition, chapter 9). */
function removeFilters(rows: Uint8Array, width: number, bits: number): void {
  const stride = strideOf(width, bits);
  const pixel = Math.max(1, bits / 8);
  for (let row = 0; row < rows.length; row += stride) {
    const filter = rows[row] ?? 0;
    if (filter > 4) throw new RangeError("a filter is unknown");
    rows[row] = 0;
    if (filter === 0) continue;
    const above = row - stride;
    for (let at = 1; at < stride; at += 1) {
      const left = at > pixel ? (rows[row + at - pixel] ?? 0) : 0;
      const up = row > 0 ? (rows[above + at] ?? 0) : 0;
      const corner = row > 0 && at > pixel ? (rows[above + at - pixel] ?? 0) : 0;
      rows[row + at] = (rows[row + at] ?? 0) + predict(filter, left, up, corner);
    }
  }
}

/** Returns the value that a filter predicts for a byte. */
function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  return paeth(left, up, corner);
}

/** Returns the neighbour with the value nearest to `left + up - corner` (PNG specification, section 9.4). */
export function paeth(left: number, up: number, corner: number): number {
  const toLeft = Math.abs(up - corner);
  const toUp = Math.abs(left - corner);
  const toCorner = Math.abs(left + up - 2 * corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
