import type { ReferenceImage } from "../../domain/image.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import { fillRectangle, paste, type Canvas, type Rectangle } from "./canvas.ts";
import { CELL_HEIGHT, CELL_WIDTH } from "./font.ts";
import { drawLettering, layOut } from "./lettering.ts";
import { decodeReference, type Codec } from "./codec.ts";

const WHITE = 0xffffffff;
const BLACK = 0xff101018;
const ROWS_PER_SLICE = 64;

/** Cells of a grid that fills an area, as near to squares as it allows. */
export interface Grid {
  area: Rectangle;
  columns: number;
  cell: number;
}

/** The grid with the largest square cells in which `count` pictures fit. */
export function fitGrid(area: Rectangle, count: number): Grid {
  let best = { columns: 1, cell: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const cell = Math.floor(Math.min(area.width / columns, area.height / Math.ceil(count / columns)));
    if (cell > best.cell) best = { columns, cell };
  }
  return { area, ...best };
}

/** Decodes every reference at the size of its cell, in upload order. */
export async function decodeThumbnails(
  references: readonly ReferenceImage[],
  grid: Grid,
  codec: Codec,
): Promise<Canvas[]> {
  const side = Math.max(1, grid.cell - 2 * frameOf(grid));
  const thumbnails: Canvas[] = [];
  for (const reference of references) {
    thumbnails.push(
      await decodeReference(reference, { width: side, height: side, fit: "inside" }, "image", codec),
    );
  }
  return thumbnails;
}

/** Pastes the thumbnails in numbered order, each framed and with its number in the corner. */
export function pasteThumbnails(canvas: Canvas, grid: Grid, thumbnails: readonly Canvas[]): void {
  const frame = frameOf(grid);
  for (const [index, thumbnail] of thumbnails.entries()) {
    const x = grid.area.x + (index % grid.columns) * grid.cell + frame;
    const y = grid.area.y + Math.floor(index / grid.columns) * grid.cell + frame;
    const { width, height } = thumbnail;
    const around = { x: x - 1, y: y - 1, width: width + 2, height: height + 2 };
    fillRectangle(canvas, around, WHITE);
    paste(canvas, thumbnail, x, y);
    drawNumber(canvas, index + 1, { x, y, width, height });
  }
}

/** Restores the kept picture wherever the mask is not fully transparent. Both have the size of the canvas. */
export async function keepUnmasked(
  canvas: Canvas,
  kept: Canvas,
  mask: Canvas,
  signal: AbortSignal,
): Promise<void> {
  const { width, height } = canvas;
  for (let y = 0; y < height; y += 1) {
    for (let index = y * width; index < (y + 1) * width; index += 1)
      if ((mask.pixels[index] ?? 0) >>> 24 !== 0) canvas.pixels[index] = kept.pixels[index] ?? 0;
    if (y % ROWS_PER_SLICE === 0) await yieldToEventLoop(signal);
  }
}

function frameOf(grid: Grid): number {
  return Math.max(2, Math.floor(grid.cell / 40));
}

/** The number of a reference on a dark plate, an eighth of its height. */
function drawNumber(canvas: Canvas, number: number, area: Rectangle): void {
  const text = String(number);
  const scale = Math.max(1, Math.floor(area.height / 8 / CELL_HEIGHT));
  const width = (text.length + 2) * CELL_WIDTH * scale;
  const height = 2 * CELL_HEIGHT * scale;
  const plate = { x: area.x, y: area.y, width, height };
  fillRectangle(canvas, plate, BLACK);
  drawLettering(canvas, layOut(text, width, height, scale), plate, WHITE);
}
