import type { Chunk } from "./chunks.ts";
import {
  COLOUR,
  COLOUR_WITH_ALPHA,
  type ColourType,
  GREY,
  GREY_WITH_ALPHA,
  PALETTE,
  type PngPixels,
  strideOf,
} from "./pixels.ts";

/**
 * Removes channels and bits that pixels of four eight-bit channels do not need, without loss. Stores grey in one
 * channel, at most 256 colours as a palette, and alpha only if `hasAlpha` is true or a pixel is not opaque. Changes the
 * rows in place. Returns pixels in any other form unchanged.
 */
export function reduce(pixels: PngPixels, hasAlpha: boolean): PngPixels {
  if (pixels.depth !== 8 || pixels.colourType !== COLOUR_WITH_ALPHA) return pixels;
  const used = usedColours(pixels);
  const keepsAlpha = hasAlpha || !used.isOpaque;
  // A profile of red, green and blue must not be used with a single grey channel (PNG specification, 11.3.2.3).
  const isGrey = used.isGrey && !pixels.colours.some(({ type }) => type === "iCCP");
  if (isGrey && !keepsAlpha) return asGrey(pixels, used.greys);
  if (used.palette) return asPalette(pixels, used.palette, keepsAlpha);
  if (isGrey) return asChannels(pixels, GREY_WITH_ALPHA, [0, 3]);
  return keepsAlpha ? pixels : asChannels(pixels, COLOUR, [0, 1, 2]);
}

interface UsedColours {
  isOpaque: boolean;
  isGrey: boolean;
  /** The grey values that occur. Meaningless if `isGrey` is false. */
  greys: readonly number[];
  /** The index of each colour that occurs; null when the picture has more than 256 colours. */
  palette: ReadonlyMap<number, number> | null;
}

const MAX_COLOURS = 256;
const CHANNELS = 4;

function usedColours({ width, rows }: PngPixels): UsedColours {
  let [isOpaque, isGrey, last] = [true, true, -1];
  const isUsed = new Uint8Array(256);
  const palette = new Map<number, number>();
  const stride = strideOf(width, 8 * CHANNELS);
  for (let row = 0; row < rows.length; row += stride)
    for (let at = row + 1; at < row + stride; at += CHANNELS) {
      const colour = colourAt(rows, at);
      if (colour === last) continue;
      last = colour;
      const red = rows[at] ?? 0;
      if (red !== rows[at + 1] || red !== rows[at + 2]) isGrey = false;
      if (rows[at + 3] !== 255) isOpaque = false;
      isUsed[red] = 1;
      if (palette.size <= MAX_COLOURS && !palette.has(colour)) palette.set(colour, palette.size);
      // The picture needs all four channels, whatever its remaining pixels are.
      if (!isOpaque && !isGrey && palette.size > MAX_COLOURS)
        return { isOpaque, isGrey, greys: [], palette: null };
    }
  const greys = [...isUsed.keys()].filter((grey) => isUsed[grey] === 1);
  return { isOpaque, isGrey, greys, palette: palette.size > MAX_COLOURS ? null : palette };
}

/** The four channels of a pixel as one number. */
function colourAt(rows: Uint8Array, at: number): number {
  const rgb = ((rows[at] ?? 0) << 24) | ((rows[at + 1] ?? 0) << 16) | ((rows[at + 2] ?? 0) << 8);
  return (rgb | (rows[at + 3] ?? 0)) >>> 0;
}

/** Stores grey pixels in one channel, with the fewest bits that can represent all of `greys`. */
function asGrey(pixels: PngPixels, greys: readonly number[]): PngPixels {
  const step = (depth: number) => 255 / (2 ** depth - 1);
  const depth = [1, 2, 4].find((each) => greys.every((grey) => grey % step(each) === 0)) ?? 8;
  return pack(pixels, { depth, colourType: GREY }, (at) => (pixels.rows[at] ?? 0) / step(depth));
}

function asPalette(pixels: PngPixels, palette: ReadonlyMap<number, number>, keepsAlpha: boolean): PngPixels {
  const colours = [...palette.keys()];
  const depth = [1, 2, 4].find((each) => colours.length <= 2 ** each) ?? 8;
  const packed = pack(
    pixels,
    { depth, colourType: PALETTE },
    (at) => palette.get(colourAt(pixels.rows, at)) ?? 0,
  );
  const entries = colours.flatMap((colour) => [colour >>> 24, (colour >>> 16) & 255, (colour >>> 8) & 255]);
  const chunks: Chunk[] = [{ type: "PLTE", data: Uint8Array.from(entries) }];
  if (keepsAlpha) chunks.push({ type: "tRNS", data: Uint8Array.from(colours, (colour) => colour & 255) });
  return { ...packed, colours: [...packed.colours, ...chunks] };
}

/** Stores one value of a few bits for each pixel. */
function pack(
  pixels: PngPixels,
  form: { depth: number; colourType: ColourType },
  valueAt: (at: number) => number,
): PngPixels {
  const { width, height, rows } = pixels;
  const [from, to] = [strideOf(width, 8 * CHANNELS), strideOf(width, form.depth)];
  for (let y = 0; y < height; y += 1) {
    let [bits, filled, at] = [0, 0, y * to + 1];
    for (let x = 0; x < width; x += 1) {
      bits = (bits << form.depth) | valueAt(y * from + 1 + x * CHANNELS);
      filled += form.depth;
      if (filled < 8) continue;
      rows[at] = bits;
      [bits, filled, at] = [0, 0, at + 1];
    }
    if (filled > 0) rows[at] = bits << (8 - filled);
    rows[y * to] = 0;
  }
  return withRows(pixels, form, rows.subarray(0, to * height));
}

/** Keeps only the channels `kept` (indexes from 0 to 3) of the four. */
function asChannels(pixels: PngPixels, colourType: ColourType, kept: readonly number[]): PngPixels {
  const { width, height, rows } = pixels;
  const [from, to] = [strideOf(width, 8 * CHANNELS), strideOf(width, 8 * kept.length)];
  for (let y = 0; y < height; y += 1) {
    let at = y * to + 1;
    for (let pixel = y * from + 1; pixel < (y + 1) * from; pixel += CHANNELS)
      for (const channel of kept) rows[at++] = rows[pixel + channel] ?? 0;
    rows[y * to] = 0;
  }
  return withRows(pixels, { depth: 8, colourType }, rows.subarray(0, to * height));
}

/** Returns the pixels in another form, without `sBIT`: this chunk counts the bits of each of the old channels. */
function withRows(
  pixels: PngPixels,
  form: { depth: number; colourType: ColourType },
  rows: Uint8Array,
): PngPixels {
  const colours = pixels.colours.filter(({ type }) => type !== "sBIT");
  return { ...pixels, ...form, rows, colours };
}
