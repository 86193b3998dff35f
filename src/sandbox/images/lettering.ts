import { fillRectangle, type Canvas, type Color, type Rectangle } from "./canvas.ts";
import { CELL_HEIGHT, CELL_WIDTH, GLYPH_ROWS, glyphOf, type Glyph } from "./font.ts";

/** More characters than this would be too small to read. */
const MAX_CHARACTERS = 4000;
const MARGIN_CELLS = 1;

/** Text broken into lines at a size at which it fits. */
interface Lettering {
  lines: Glyph[][];
  /** Pixels per dot. */
  scale: number;
  /** Pixels it takes, margins included. */
  height: number;
}

/**
 * Breaks a text into lines at the largest scale at which it fits `width` and `height`. What does not fit at the
 * smallest scale is cut off.
 */
export function layOut(text: string, width: number, height: number, largestScale: number): Lettering {
  const glyphs = glyphsOf(text);
  for (let scale = Math.max(1, Math.floor(largestScale)); ; scale -= 1) {
    const columns = Math.floor(width / (CELL_WIDTH * scale)) - 2 * MARGIN_CELLS;
    const maxLines = Math.floor(height / (CELL_HEIGHT * scale)) - MARGIN_CELLS;
    const lines = breakLines(glyphs, Math.max(2, columns));
    if (lines.length <= maxLines || scale === 1) {
      const kept = lines.slice(0, Math.max(1, maxLines));
      return { lines: kept, scale, height: (kept.length + MARGIN_CELLS) * CELL_HEIGHT * scale };
    }
  }
}

/** Draws laid out text from the top left of an area. */
export function drawLettering(canvas: Canvas, lettering: Lettering, area: Rectangle, color: Color): void {
  const { scale } = lettering;
  let y = area.y + Math.floor((MARGIN_CELLS * CELL_HEIGHT * scale) / 2);
  for (const line of lettering.lines) {
    let x = area.x + MARGIN_CELLS * CELL_WIDTH * scale;
    for (const glyph of line) {
      drawGlyph(canvas, glyph, { x, y, scale, color });
      x += (glyph.width + 1) * scale;
    }
    y += CELL_HEIGHT * scale;
  }
}

function drawGlyph(
  canvas: Canvas,
  glyph: Glyph,
  origin: { x: number; y: number; scale: number; color: Color },
): void {
  const { scale, color } = origin;
  for (let row = 0; row < GLYPH_ROWS; row += 1) {
    const dots = glyph.rows[row] ?? 0;
    for (let column = 0; column < glyph.width; column += 1) {
      if (((dots >> (glyph.width - 1 - column)) & 1) === 0) continue;
      const dot = { x: origin.x + column * scale, y: origin.y + row * scale, width: scale, height: scale };
      fillRectangle(canvas, dot, color);
    }
  }
}

function glyphsOf(text: string): Glyph[] {
  const plain = text
    .slice(0, MAX_CHARACTERS * 2)
    .replace(/[\s\p{C}\p{M}]+/gu, " ")
    .trim();
  return Array.from(plain).slice(0, MAX_CHARACTERS).map(glyphOf);
}

/** Breaks at spaces where it can, and anywhere where it must. */
function breakLines(glyphs: readonly Glyph[], columns: number): Glyph[][] {
  const space = glyphOf(" ");
  const lines: Glyph[][] = [];
  let start = 0;
  while (start < glyphs.length) {
    let end = start;
    let used = 0;
    let lastBreak = -1;
    for (; end < glyphs.length; end += 1) {
      const glyph = glyphs[end] ?? space;
      const cells = glyph.width === 5 ? 1 : 2;
      if (glyph === space || cells === 2) lastBreak = end;
      if (used + cells > columns) break;
      used += cells;
    }
    if (end < glyphs.length && lastBreak > start) end = lastBreak;
    lines.push(glyphs.slice(start, end));
    start = glyphs[end] === space ? end + 1 : end;
  }
  return lines;
}
