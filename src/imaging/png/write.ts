import { deflateSync } from "node:zlib";
import { writeChunks } from "./chunks.ts";
import { bitsOf, paeth, PALETTE, type PngPixels, strideOf } from "./pixels.ts";

/** Encodes pixels as a PNG without interlacing. The rows may be changed, so they cannot be used afterwards. */
export function writePixels(pixels: PngPixels): Buffer<ArrayBuffer> {
  const { width, height, depth, colourType, colours } = pixels;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colourType], 8);
  return writeChunks([
    { type: "IHDR", data: header },
    ...colours,
    { type: "IDAT", data: packRows(pixels) },
    { type: "IEND", data: new Uint8Array(0) },
  ]);
}

/** Maximum number of bytes of rows that are compressed both with and without filters to keep the smaller result. */
const SMALL_BYTES = 4 * 2 ** 20;

/**
 * Compresses the rows, and may filter them in place. Rows over `SMALL_BYTES` are compressed only once and at a lower
 * level, for speed.
 */
function packRows(pixels: PngPixels): Uint8Array {
  const { width, depth, colourType, rows } = pixels;
  const bits = bitsOf(pixels);
  const [stride, pixel] = [strideOf(width, bits), Math.max(1, bits / 8)];
  // A filter stores differences. They rarely help for palette indexes and for bytes that contain several pixels.
  const isSmooth = colourType !== PALETTE && depth >= 8;
  if (rows.length > SMALL_BYTES) {
    if (isSmooth) filterRows(rows, stride, pixel);
    return deflateSync(rows, { level: 6, memLevel: 9 });
  }
  const plain = deflateSync(rows, { level: 9, memLevel: 9 });
  filterRows(rows, stride, pixel);
  const filtered = deflateSync(rows, { level: 9, memLevel: 9 });
  return filtered.length < plain.length ? filtered : plain;
}

/** Filters each row in place, with the filter that suits the row best. */
function filterRows(rows: Uint8Array, stride: number, pixel: number): void {
  const filter = createFilter(stride, pixel);
  let above = new Uint8Array(stride);
  let current = new Uint8Array(stride);
  for (let row = 0; row < rows.length; row += stride) {
    current.set(rows.subarray(row, row + stride));
    rows.set(filter(current, above), row);
    [above, current] = [current, above];
  }
}

/**
 * Returns a function that applies all filters to a row and returns the result with the smallest sum of absolute
 * differences (PNG specification, third edition, section 12.7). A result is valid until the next call.
 */
function createFilter(stride: number, pixel: number): (current: Uint8Array, above: Uint8Array) => Uint8Array {
  const filteredBy = (type: number) => new Uint8Array(stride).fill(type, 0, 1);
  const none = filteredBy(0);
  const sub = filteredBy(1);
  const up = filteredBy(2);
  const average = filteredBy(3);
  const plane = filteredBy(4);
  return (current, above) => {
    let [noneSum, subSum, upSum, averageSum, planeSum] = [0, 0, 0, 0, 0];
    for (let at = 1; at < stride; at += 1) {
      const value = current[at] ?? 0;
      const left = at > pixel ? (current[at - pixel] ?? 0) : 0;
      const top = above[at] ?? 0;
      const corner = at > pixel ? (above[at - pixel] ?? 0) : 0;
      noneSum += distanceOf((none[at] = value));
      subSum += distanceOf((sub[at] = (value - left) & 255));
      upSum += distanceOf((up[at] = (value - top) & 255));
      averageSum += distanceOf((average[at] = (value - ((left + top) >> 1)) & 255));
      planeSum += distanceOf((plane[at] = (value - paeth(left, top, corner)) & 255));
    }
    const least = Math.min(noneSum, subSum, upSum, averageSum, planeSum);
    if (least === noneSum) return none;
    if (least === subSum) return sub;
    if (least === upSum) return up;
    return least === averageSum ? average : plane;
  };
}

/** The distance of a difference from zero; differences wrap around at 256. */
function distanceOf(difference: number): number {
  return difference < 128 ? difference : 256 - difference;
}
