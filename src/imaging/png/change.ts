import type { Orientation } from "../header-reader.ts";
import {
  bitsOf,
  COLOUR_WITH_ALPHA,
  GREY_WITH_ALPHA,
  PALETTE,
  pixelCopier,
  type PngPixels,
  strideOf,
} from "./pixels.ts";

/** Returns the pixels turned upright, in their own channels and depth. */
export function turn(pixels: PngPixels, orientation: Orientation): PngPixels {
  const { width, height } = pixels;
  const size = orientation >= 5 ? { width: height, height: width } : { width, height };
  const bits = bitsOf(pixels);
  const [stride, turnedStride] = [strideOf(width, bits), strideOf(size.width, bits)];
  const rows = new Uint8Array(turnedStride * size.height);
  const copy = pixelCopier(bits);
  const position = POSITIONS[orientation];
  const [right, bottom] = [width - 1, height - 1];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const turned = position(x, y, right, bottom);
      copy(pixels.rows, y * stride + 1, x, rows, turned.y * turnedStride + 1, turned.x);
    }
  return { ...pixels, ...size, rows };
}

/**
 * The position of a pixel in the upright picture, by orientation. `right` and `bottom` are the stored picture's largest
 * coordinates (Exif 2.32, section 4.6.4).
 */
const POSITIONS: Readonly<
  Record<Orientation, (x: number, y: number, right: number, bottom: number) => { x: number; y: number }>
> = {
  2: (x, y, right) => ({ x: right - x, y }),
  3: (x, y, right, bottom) => ({ x: right - x, y: bottom - y }),
  4: (x, y, _right, bottom) => ({ x, y: bottom - y }),
  5: (x, y) => ({ x: y, y: x }),
  6: (x, y, _right, bottom) => ({ x: bottom - y, y: x }),
  7: (x, y, right, bottom) => ({ x: bottom - y, y: right - x }),
  8: (x, y, right) => ({ x: y, y: right - x }),
};

/**
 * Sets the two low bits of each colour to its two highest bits, in place, so that black and white do not change. Throws
 * for pixels that would lose more: of a depth other than 8, with a palette, or with `tRNS` (a colour that means
 * transparency).
 */
export function dropLowBits(pixels: PngPixels): PngPixels {
  const { depth, colourType, width, rows, colours } = pixels;
  if (depth !== 8 || colourType === PALETTE || colours.some(({ type }) => type === "tRNS"))
    throw new RangeError("the colours cannot be stored in fewer bits");
  const channels = bitsOf(pixels) / 8;
  const hasAlpha = colourType === GREY_WITH_ALPHA || colourType === COLOUR_WITH_ALPHA;
  const alpha = hasAlpha ? channels - 1 : channels;
  const stride = strideOf(width, bitsOf(pixels));
  for (let row = 0; row < rows.length; row += stride)
    for (let at = 0; at < stride - 1; at += 1) {
      const value = rows[row + 1 + at] ?? 0;
      if (at % channels !== alpha) rows[row + 1 + at] = (value & 0xfc) | (value >> 6);
    }
  return pixels;
}
