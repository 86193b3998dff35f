import { yieldToEventLoop } from "../../lib/waiting.ts";
import type { Random } from "../random.ts";
import { colorOf, fillRectangle, type Canvas } from "./canvas.ts";

const ROWS_PER_SLICE = 32;

export interface LandscapeOptions {
  /** Ranges of hills, one before the other. */
  ranges: number;
  /** Low bits of a pixel that are scattered, which gives the surfaces a texture. */
  grain: number;
  /** Leaves out the sky. */
  isTransparent: boolean;
}

/** Paints a sun in the sky behind ranges of hills, in random colours and shapes. */
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

/** Returns the top row of a range of hills in each column: three waves, lower the nearer the range is. */
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

/** Scatters low bits of the opaque pixels, always in the same way. */
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
