export interface Point {
  x: number;
  y: number;
}

/** One stroke on a picture. All lengths are in pixels of the picture. */
export interface Stroke {
  isEraser: boolean;
  /** Diameter in pixels of the picture. */
  size: number;
  points: readonly Point[];
}

/** Colours of the strokes. The strokes are striped, so that they are visible on every picture. */
const STRIPES = ["#e6007e", "#ffffff"] as const;
/** Number of stripes across the width of a picture. */
const STRIPE_COUNT = 48;
const OPAQUE_FROM = 128;

/** Paints the strokes in order on an empty canvas. */
export function paintStrokes(canvas: HTMLCanvasElement | OffscreenCanvas, strokes: readonly Stroke[]): void {
  const context = canvas.getContext("2d") as
    CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D | null;
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.lineCap = "round";
  context.lineJoin = "round";
  const paint = stripes(Math.max(4, Math.round(canvas.width / STRIPE_COUNT)));
  context.strokeStyle = paint;
  context.fillStyle = paint;
  for (const { isEraser, size, points } of strokes) {
    const [first] = points;
    if (!first) continue;
    context.globalCompositeOperation = isEraser ? "destination-out" : "source-over";
    context.lineWidth = size;
    context.beginPath();
    context.arc(first.x, first.y, size / 2, 0, 2 * Math.PI);
    context.fill();
    context.beginPath();
    for (const { x, y } of points) context.lineTo(x, y);
    context.stroke();
  }
}

/** Returns a pattern of diagonal stripes. `width` is the width of a stripe in pixels. */
function stripes(width: number): CanvasPattern | string {
  const side = width * 2;
  const tile = new OffscreenCanvas(side, side);
  const context = tile.getContext("2d");
  const [one, other] = STRIPES;
  if (!context) return one;
  context.fillStyle = one;
  context.fillRect(0, 0, side, side);
  context.fillStyle = other;
  for (const from of [-side, 0, side]) {
    context.beginPath();
    context.moveTo(from, side);
    context.lineTo(from + side, 0);
    context.lineTo(from + side + width, 0);
    context.lineTo(from + width, side);
    context.fill();
  }
  return context.createPattern(tile, "repeat") ?? one;
}

/**
 * Returns the painted mask; null when nothing is painted. The mask is a PNG of the picture's size: fully transparent
 * where the model may paint, opaque elsewhere.
 */
export async function exportMask(
  { width, height }: { width: number; height: number },
  strokes: readonly Stroke[],
): Promise<Blob | null> {
  const canvas = new OffscreenCanvas(width, height);
  paintStrokes(canvas, strokes);
  const context = canvas.getContext("2d");
  const painted = context?.getImageData(0, 0, width, height);
  if (!painted) return null;
  const isEmpty = !invert(painted.data);
  if (isEmpty) return null;
  context?.putImageData(painted, 0, 0);
  return await canvas.convertToBlob({ type: "image/png" });
}

/** Makes painted pixels transparent and all other pixels black. Returns true if any pixel was painted. */
function invert(pixels: Uint8ClampedArray): boolean {
  let isPainted = false;
  for (let alpha = 3; alpha < pixels.length; alpha += 4) {
    const isHere = (pixels[alpha] ?? 0) >= OPAQUE_FROM;
    isPainted ||= isHere;
    pixels.fill(0, alpha - 3, alpha);
    pixels[alpha] = isHere ? 0 : 255;
  }
  return isPainted;
}
