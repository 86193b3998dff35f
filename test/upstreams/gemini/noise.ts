import { deflateSync } from "node:zlib";
import { pngChunk, pngHeader, pngOf } from "../../support/pictures.ts";

/** Makes a PNG of black and white noise, which is fast to make and compresses badly. */
export function makeSpeckles(width: number, height: number): Buffer<ArrayBuffer> {
  return assemble(width, height, { colourType: 0, depth: 1, bytesPerRow: Math.ceil(width / 8) });
}

/** Makes a PNG of coloured noise with three bytes per pixel. */
export function makeNoise(width: number, height: number): Buffer<ArrayBuffer> {
  return assemble(width, height, { colourType: 2, depth: 8, bytesPerRow: 3 * width });
}

interface Layout {
  colourType: number;
  depth: number;
  bytesPerRow: number;
}

const RANDOM_BYTES = 65_536;

function assemble(
  width: number,
  height: number,
  { colourType, depth, bytesPerRow }: Layout,
): Buffer<ArrayBuffer> {
  const stride = bytesPerRow + 1;
  const rows = new Uint8Array(stride * height);
  for (let start = 0; start < rows.length; start += RANDOM_BYTES)
    crypto.getRandomValues(rows.subarray(start, start + RANDOM_BYTES));
  // The first byte of a row is the number of its filter; 0 means no filter.
  for (let start = 0; start < rows.length; start += stride) rows[start] = 0;
  return pngOf([
    pngHeader(width, height, colourType, depth),
    pngChunk("IDAT", deflateSync(rows, { level: 0 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}
