import { yieldToEventLoop } from "../../lib/waiting.ts";
import type { Random } from "../random.ts";
import { colorOf, fillEllipse, fillRectangle, mix, type Canvas, type Color } from "./canvas.ts";

/** A pattern of a background: how strongly the second colour shows at a point of the unit square. */
type Pattern = (across: number, down: number) => number;

const ROWS_PER_SLICE = 32;
const PALETTE_SIZE = 64;

interface SceneryOptions {
  /** More shapes make a finer picture. */
  shapes: number;
  /** Low bits of a pixel that are scattered. */
  grain: number;
  isTransparent: boolean;
}

/** Paints a background of random shapes, on a random pattern unless it is transparent. */
export async function paintScenery(
  canvas: Canvas,
  random: Random,
  options: SceneryOptions,
  signal: AbortSignal,
): Promise<void> {
  const hue = random.next();
  const pattern = patternOf(random, canvas.width / canvas.height);
  const palette = paletteOf(colorOf(hue, 0.55, 0.72), colorOf((hue + 0.12) % 1, 0.6, 0.5));
  if (!options.isTransparent) await paintPattern(canvas, pattern, palette, signal);
  for (let index = 0; index < options.shapes; index += 1) {
    paintShape(canvas, random, hue, index / options.shapes);
    await yieldToEventLoop(signal);
  }
  await addGrain(canvas, options.grain, signal);
}

/** Colours between two, so that painting a pixel is one look-up. */
function paletteOf(first: Color, second: Color): Uint32Array {
  return Uint32Array.from({ length: PALETTE_SIZE }, (_, step) =>
    mix(first, second, step / (PALETTE_SIZE - 1)),
  );
}

async function paintPattern(
  canvas: Canvas,
  pattern: Pattern,
  palette: Uint32Array,
  signal: AbortSignal,
): Promise<void> {
  const { width, height, pixels } = canvas;
  const reach = PALETTE_SIZE - 1;
  for (let y = 0; y < height; y += 1) {
    const down = y / height;
    const row = y * width;
    for (let x = 0; x < width; x += 1) pixels[row + x] = palette[(pattern(x / width, down) * reach) | 0] ?? 0;
    if (y % ROWS_PER_SLICE === 0) await yieldToEventLoop(signal);
  }
}

/** Scatters low bits of the opaque pixels, always in the same way. */
async function addGrain(canvas: Canvas, grain: number, signal: AbortSignal): Promise<void> {
  if (grain === 0) return;
  const { pixels, width, height } = canvas;
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

function patternOf(random: Random, aspect: number): Pattern {
  const count = 3 + random.below(5);
  const slant = random.next() * 2 - 1;
  return random.pick<Pattern>([
    (across, down) => fraction((across * aspect + down * slant) * count),
    (across, down) =>
      ((Math.floor(across * count * aspect) + Math.floor(down * count)) & 1) * 0.6 + down * 0.4,
    (across, down) => fraction(Math.hypot((across - 0.5) * aspect, down - 0.5) * count * 2),
    (across, down) =>
      (Math.abs(fraction(across * count * aspect) - 0.5) + Math.abs(fraction(down * count) - 0.5)) * 0.99,
    (across, down) => fraction(down * count + Math.abs(fraction(across * aspect * 2) - 0.5)),
  ]);
}

function fraction(value: number): number {
  return value - Math.floor(value);
}

/** Early shapes are large and later ones small, so that each picture has both. */
function paintShape(canvas: Canvas, random: Random, hue: number, share: number): void {
  const extent = Math.min(canvas.width, canvas.height);
  const radius = Math.max(1, extent * (0.16 - 0.14 * share) * (0.5 + random.next()));
  const x = Math.round(random.next() * canvas.width);
  const y = Math.round(random.next() * canvas.height);
  const color = colorOf((hue + 0.3 + random.next() * 0.4) % 1, 0.7, 0.35 + random.next() * 0.35);
  if (random.below(3) === 0) {
    const size = Math.round(radius * 1.6);
    fillRectangle(canvas, { x: x - (size >> 1), y: y - (size >> 1), width: size, height: size }, color);
    return;
  }
  fillEllipse(canvas, { x, y }, { x: radius, y: radius }, color);
  fillEllipse(canvas, { x, y }, { x: radius * 0.6, y: radius * 0.6 }, mix(color, 0xffffffff, 0.35));
}
