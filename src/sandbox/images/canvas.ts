/**
 * A rectangle of pixels inside a bitmap file, which the image codec reads without a copy. A pixel is one 32-bit
 * word, `0xAARRGGBB`.
 */
export interface Canvas {
  width: number;
  height: number;
  /** Row by row from the top left. */
  pixels: Uint32Array<ArrayBuffer>;
  /** The whole bitmap file. */
  file: Uint8Array<ArrayBuffer>;
}

/** A colour as a pixel word. */
export type Color = number;

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** File header, version 5 header (the one with an alpha mask), and two bytes so that pixels are word-aligned. */
const PIXELS_OFFSET = 140;

/** A canvas whose pixels are all transparent. */
export function createCanvas(width: number, height: number): Canvas {
  const file = new Uint8Array(PIXELS_OFFSET + width * height * 4);
  const view = new DataView(file.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, file.length, true);
  view.setUint32(10, PIXELS_OFFSET, true);
  view.setUint32(14, 124, true);
  view.setInt32(18, width, true);
  // A negative height means that the top row comes first.
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

/** An opaque colour; hue in turns, saturation and lightness from 0 to 1. */
export function colorOf(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const position = (offset + hue * 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(position - 3, 9 - position, 1))));
  };
  return (0xff000000 | (channel(0) << 16) | (channel(8) << 8) | channel(4)) >>> 0;
}

/** Fills the part of a rectangle that lies on the canvas. Sides are whole numbers. */
export function fillRectangle(canvas: Canvas, area: Rectangle, color: Color): void {
  const left = Math.max(0, area.x);
  const right = Math.min(canvas.width, area.x + area.width);
  const bottom = Math.min(canvas.height, area.y + area.height);
  if (right <= left) return;
  for (let y = Math.max(0, area.y); y < bottom; y += 1)
    canvas.pixels.fill(color, y * canvas.width + left, y * canvas.width + right);
}

/** Copies the opaque pixels of a smaller canvas onto a larger one. */
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
