import { yieldToEventLoop } from "../../lib/waiting.ts";
import type { Random } from "../random.ts";

const ROWS_PER_SLICE = 32;

export interface LandscapeOptions {
  /** Number of ranges of hills. Each range partly covers the range behind it. */
  ranges: number;
  /** Bit mask of the bits of a pixel's word that get random values, so that surfaces have a texture. */
  grain: number;
  /** True to leave the sky transparent. */
  isTransparent: boolean;
}

/** Paints a sky, unless it is to stay transparent, a sun and ranges of hills, in random colours and shapes. */
export async function paintLandscape(
  canvas: Canvas,
  random: Random,
  { ranges, grain, isTransparent }: LandscapeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { width, height, pixels } = canvas;
  const hue = random.next();
  const sky = (y: number) => colorOf((hue + (0.15 * y) / height) % 1, 0.6, 0.55 + (0.35 * y) / height);
  if (!isTransparent)
    for (let y = 0; y < height; y += 1) fillRectangle(canvas, { x: 0, y, width, height: 1 }, sky(y));
  paintSun(canvas, random, colorOf((hue + 0.5) % 1, 0.9, 0.75));
  for (let range = 1; range <= ranges; range += 1) {
    const nearness = range / ranges;
    const ridge = ridgeOf(random, canvas, nearness);
    const color = colorOf((hue + 0.3 + 0.2 * nearness) % 1, 0.45, 0.7 - 0.5 * nearness);
    for (let y = ridge.reduce((top, at) => Math.min(top, at), height); y < height; y += 1) {
      for (let x = 0; x < width; x += 1) if (y >= (ridge[x] ?? 0)) pixels[y * width + x] = color;
      if (y % ROWS_PER_SLICE === 0) await yieldToEventLoop(signal);
    }
  }
  await addGrain(canvas, grain, signal);
}

function paintSun(canvas: Canvas, random: Random, color: number): void {
  const centerX = Math.round(canvas.width * (0.2 + 0.6 * random.next()));
  const centerY = Math.round(canvas.height * (0.1 + 0.15 * random.next()));
  const radius = Math.max(1, Math.round(Math.min(canvas.width, canvas.height) * 0.09));
  for (let rise = -radius; rise <= radius; rise += 1) {
    const half = Math.round(Math.sqrt(radius * radius - rise * rise));
    fillRectangle(canvas, { x: centerX - half, y: centerY + rise, width: 2 * half, height: 1 }, color);
  }
}

/** Returns the top row of a range of hills, for each column: the sum of three waves. Nearer ranges are lower. */
function ridgeOf(random: Random, { width, height }: Canvas, nearness: number): Int32Array {
  const waves = [1, 2, 5].map((turns) => ({
    turns: (turns + random.next()) * Math.max(1, width / height) * Math.PI * 2,
    phase: random.next() * Math.PI * 2,
    rise: (0.1 * height) / turns,
  }));
  return Int32Array.from({ length: width }, (_, x) => {
    const rises = waves.map(({ turns, phase, rise }) => rise * Math.sin((turns * x) / width + phase));
    return height * (0.25 + 0.4 * nearness) + rises.reduce((sum, rise) => sum + rise, 0);
  });
}

/** Sets the low bits of the opaque pixels to random values. These values are the same in each run. */
async function addGrain(
  { pixels, width, height }: Canvas,
  grain: number,
  signal: AbortSignal,
): Promise<void> {
  let noise = 1;
  for (let y = 0; y < height; y += 1) {
    for (let index = y * width; index < (y + 1) * width; index += 1) {
      noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0;
      const pixel = pixels[index] ?? 0;
      if (pixel !== 0) pixels[index] = pixel ^ ((noise >>> 12) & grain);
    }
    if (y % ROWS_PER_SLICE === 0) await yieldToEventLoop(signal);
  }
}

/** The pixels of a bitmap file (BMP), which the codec reads without a copy. Each pixel is a word `0xAARRGGBB`. */
export interface Canvas {
  width: number;
  height: number;
  /** Pixels row by row. The first pixel is at the top left. */
  pixels: Uint32Array<ArrayBuffer>;
  /** Bytes of the whole bitmap file. */
  file: Uint8Array<ArrayBuffer>;
}

/** A colour as the word of a pixel, `0xAARRGGBB`. */
export type Color = number;

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Offset of the pixels in the file. Before the pixels are the file header, the version 5 header (which has an alpha
 * mask) and two bytes for alignment.
 */
const PIXELS_OFFSET = 140;

/** Returns a canvas whose pixels are all transparent. */
export function createCanvas(width: number, height: number): Canvas {
  const file = new Uint8Array(PIXELS_OFFSET + width * height * 4);
  const view = new DataView(file.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, file.length, true);
  view.setUint32(10, PIXELS_OFFSET, true);
  view.setUint32(14, 124, true);
  view.setInt32(18, width, true);
  // A negative height means that the top row is stored first.
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 32, true);
  view.setUint32(30, 3, true);
  view.setUint32(34, width * height * 4, true);
  view.setUint32(54, 0x00ff0000, true);
  view.setUint32(58, 0x0000ff00, true);
  view.setUint32(62, 0x000000ff, true);
  view.setUint32(66, 0xff000000, true);
  view.setUint32(70, 0x73524742, true);
  return { width, height, file, pixels: new Uint32Array(file.buffer, PIXELS_OFFSET) };
}

/** Returns an opaque colour. Hue is a fraction of a full turn. Saturation and lightness are from 0 to 1. */
function colorOf(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const position = (offset + hue * 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(position - 3, 9 - position, 1))));
  };
  return (0xff000000 | (channel(0) << 16) | (channel(8) << 8) | channel(4)) >>> 0;
}

/** Fills the part of a rectangle that is on the canvas. The coordinates must be integers. */
export function fillRectangle(canvas: Canvas, area: Rectangle, color: Color): void {
  const left = Math.max(0, area.x);
  const right = Math.min(canvas.width, area.x + area.width);
  const bottom = Math.min(canvas.height, area.y + area.height);
  if (right <= left) return;
  for (let y = Math.max(0, area.y); y < bottom; y += 1)
    canvas.pixels.fill(color, y * canvas.width + left, y * canvas.width + right);
}

/** Copies the pixels of `picture` that are more than half opaque to the position `left`, `top` of a larger canvas. */
export function paste(canvas: Canvas, picture: Canvas, left: number, top: number): void {
  for (let y = 0; y < picture.height; y += 1) {
    const from = y * picture.width;
    const to = (top + y) * canvas.width + left;
    for (let x = 0; x < picture.width; x += 1) {
      const pixel = picture.pixels[from + x] ?? 0;
      if (pixel >>> 24 > 127) canvas.pixels[to + x] = pixel;
    }
  }
}
