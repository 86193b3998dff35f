import type { ImageOrder } from "../../domain/image.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import { createRandom, hashNumber } from "../random.ts";
import {
  type Canvas,
  createCanvas,
  fillRectangle,
  type LandscapeOptions,
  paintLandscape,
  paste,
} from "./landscape.ts";
import { decodeReference, type Codec } from "./codec.ts";
import { drawLettering, layOut } from "./lettering.ts";

/** Settings for painting the pictures of an order (an image request as the provider receives it). */
interface Appearance extends LandscapeOptions {
  quality: string | undefined;
  /** Number of painted pixels. A larger picture is painted with this number of pixels and then enlarged. */
  pixels: number;
}

/** The data that all pictures of one order share: painted size, decoded references (input pictures) and seed. */
interface PreparedOrder {
  order: ImageOrder;
  appearance: Appearance;
  width: number;
  height: number;
  /** The references in the order of upload. `x` and `y` are the top left corner of each reference. */
  thumbnails: { picture: Canvas; x: number; y: number }[];
  masked: { kept: Canvas; mask: Canvas } | null;
  seed: number;
}

const PANEL = 0xff1b1d2a;
const LETTERS = 0xffffffff;
const ROWS_PER_SLICE = 64;

/** Minimum number of painted pixels for an edit with a mask. Fewer pixels would blur the unchanged part. */
const MIN_MASKED_PIXELS = 1_048_576;

/** Decodes the references and the mask of an order. All pictures of the order share the result. */
export async function prepareOrder(
  order: ImageOrder,
  appearance: Appearance,
  codec: Codec,
): Promise<PreparedOrder> {
  const { width, height } = paintedSize(order, appearance.pixels);
  const thumbnails = await decodeThumbnails(order, { width, height: Math.floor(height * 0.5) }, codec);
  const masked = await decodeMasked(order, { width, height }, codec);
  const hashes = thumbnails.map(({ picture }) => Bun.hash.xxHash32(picture.file));
  const seed = hashNumber(order.prompt, order.upstreamModel, ...hashes);
  return { order, appearance, width, height, thumbnails, masked, seed };
}

/** Paints picture `number` of `count`; numbers start at 1. The same order always results in the same pixels. */
export async function paintPicture(
  prepared: PreparedOrder,
  number: number,
  count: number,
  signal: AbortSignal,
): Promise<Canvas> {
  const { width, height, masked, appearance, order } = prepared;
  const canvas = createCanvas(width, height);
  await paintLandscape(canvas, createRandom(prepared.seed, number), appearance, signal);
  for (const { picture, x, y } of prepared.thumbnails) paste(canvas, picture, x, y);

  const facts = [order.upstreamModel, `${order.size.width}x${order.size.height}`, appearance.quality];
  const caption = [...facts, `${number}/${count}`].filter(Boolean).join("  ");
  const lettering = layOut([caption, order.prompt], { width, height: height * 0.4 });
  const panel = { x: 0, y: height - lettering.height, width, height: lettering.height };
  fillRectangle(canvas, panel, PANEL);
  drawLettering(canvas, lettering, panel, LETTERS);
  if (masked) await keepUnmasked(canvas, masked.kept, masked.mask, signal);
  return canvas;
}

/** Returns the size to paint. The size has the order's ratio and at most `wanted` pixels, or more with a mask. */
function paintedSize(order: ImageOrder, wanted: number): { width: number; height: number } {
  const { width, height } = order.size;
  const pixels = order.mask === undefined ? wanted : Math.max(wanted, MIN_MASKED_PIXELS);
  const scale = Math.min(1, Math.sqrt(pixels / (width * height)));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Decodes the references into square cells. Uses the largest cells with which all references fit into the area. */
async function decodeThumbnails(
  { references }: ImageOrder,
  area: { width: number; height: number },
  codec: Codec,
): Promise<PreparedOrder["thumbnails"]> {
  let grid = { columns: 1, cell: 0 };
  for (let columns = 1; columns <= references.length; columns += 1) {
    const rows = Math.ceil(references.length / columns);
    const cell = Math.floor(Math.min(area.width / columns, area.height / rows));
    if (cell > grid.cell) grid = { columns, cell };
  }
  const { columns, cell } = grid;
  const margin = Math.floor(cell / 40);
  const side = Math.max(1, cell - 2 * margin);
  const thumbnails: PreparedOrder["thumbnails"] = [];
  for (const [index, reference] of references.entries()) {
    const box = { width: side, height: side, fit: "inside" } as const;
    const picture = await decodeReference(reference, box, "image", codec);
    const x = (index % columns) * cell + margin;
    thumbnails.push({ picture, x, y: Math.floor(index / columns) * cell + margin });
  }
  return thumbnails;
}

async function decodeMasked(
  order: ImageOrder,
  size: { width: number; height: number },
  codec: Codec,
): Promise<PreparedOrder["masked"]> {
  const [first] = order.references;
  if (order.mask === undefined || first === undefined) return null;
  const target = { ...size, fit: "fill" } as const;
  const mask = await decodeReference(order.mask, { ...target, filter: "nearest" }, "mask", codec);
  return { kept: await decodeReference(first, target, "image", codec), mask };
}

/** Copies the first reference to all pixels where the mask is not fully transparent. */
async function keepUnmasked(canvas: Canvas, kept: Canvas, mask: Canvas, signal: AbortSignal): Promise<void> {
  const { width, height, pixels } = canvas;
  for (let y = 0; y < height; y += 1) {
    for (let index = y * width; index < (y + 1) * width; index += 1)
      if ((mask.pixels[index] ?? 0) >>> 24 !== 0) pixels[index] = kept.pixels[index] ?? 0;
    if (y % ROWS_PER_SLICE === 0) await yieldToEventLoop(signal);
  }
}
