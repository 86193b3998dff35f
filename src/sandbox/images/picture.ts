import type { ImageOrder } from "../../domain/image.ts";
import { createRandom, hashNumber } from "../random.ts";
import { createCanvas, fillRectangle, type Canvas } from "./canvas.ts";
import { decodeThumbnails, keepUnmasked, pasteThumbnails, fitGrid, type Grid } from "./collage.ts";
import { drawLettering, layOut } from "./lettering.ts";
import { detailOf } from "./quality.ts";
import { decodeReference, type Codec } from "./codec.ts";
import { paintScenery } from "./scenery.ts";

/** What all pictures of one order share: the size they are painted at and the decoded references. */
interface PreparedOrder {
  order: ImageOrder;
  quality: string | undefined;
  isTransparent: boolean;
  width: number;
  height: number;
  grid: Grid | null;
  thumbnails: Canvas[];
  masked: { kept: Canvas; mask: Canvas } | null;
  seed: number;
}

const PANEL = 0xff1b1d2a;
const LETTERS = 0xffffffff;
const CAPTION_LETTERS = 0xffb8c4ff;

/** With a mask at least so many pixels are painted, so that the kept part stays sharp. */
const MIN_MASKED_PIXELS = 1_048_576;

/** Decodes the references and the mask of an order, once for all its pictures. */
export async function prepareOrder(
  order: ImageOrder,
  appearance: { quality: string | undefined; isTransparent: boolean },
  codec: Codec,
): Promise<PreparedOrder> {
  const { width, height } = paintedSize(order, appearance.quality);
  const area = { x: 0, y: 0, width, height: Math.floor(height * 0.55) };
  const grid = order.references.length === 0 ? null : fitGrid(area, order.references.length);
  const thumbnails = grid === null ? [] : await decodeThumbnails(order.references, grid, codec);
  const masked = await decodeMasked(order, width, height, codec);
  const seed = hashNumber(order.prompt, order.upstreamModel, ...thumbnails.map(hashPixels));
  return { order, ...appearance, width, height, grid, thumbnails, masked, seed };
}

/** Paints picture `number` (from 1) of `count`. The same order gives the same pixels. */
export async function paintPicture(
  prepared: PreparedOrder,
  number: number,
  count: number,
  signal: AbortSignal,
): Promise<Canvas> {
  const canvas = createCanvas(prepared.width, prepared.height);
  const random = createRandom(prepared.seed, number);
  const { shapes, grain } = detailOf(prepared.quality);
  await paintScenery(canvas, random, { shapes, grain, isTransparent: prepared.isTransparent }, signal);
  if (prepared.grid) pasteThumbnails(canvas, prepared.grid, prepared.thumbnails);
  drawWords(canvas, prepared, `${number}/${count}`);
  if (prepared.masked) await keepUnmasked(canvas, prepared.masked.kept, prepared.masked.mask, signal);
  return canvas;
}

/** The prompt on a panel, and below it model, size and quality. */
function drawWords(canvas: Canvas, prepared: PreparedOrder, position: string): void {
  const { width, height } = canvas;
  const { size, upstreamModel, prompt } = prepared.order;
  const words = [upstreamModel, `${size.width}x${size.height}`, prepared.quality, position];
  const caption = layOut(
    words.filter(Boolean).join("  "),
    width,
    height * 0.08,
    Math.max(1, Math.min(width, height) / 240),
  );
  const captionArea = { x: 0, y: height - caption.height, width, height: caption.height };
  const lettering = layOut(prompt, width, height * 0.38, Math.max(1, Math.min(width, height) / 120));
  const area = { x: 0, y: captionArea.y - lettering.height, width, height: lettering.height };
  fillRectangle(canvas, { ...area, height: height - area.y }, PANEL);
  drawLettering(canvas, lettering, area, LETTERS);
  drawLettering(canvas, caption, captionArea, CAPTION_LETTERS);
}

/** The order's shape at no more pixels than its quality paints. */
function paintedSize(order: ImageOrder, quality: string | undefined): { width: number; height: number } {
  const { width, height } = order.size;
  const wanted = detailOf(quality).pixels;
  const pixels = order.mask === undefined ? wanted : Math.max(wanted, MIN_MASKED_PIXELS);
  const scale = Math.min(1, Math.sqrt(pixels / (width * height)));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

async function decodeMasked(
  order: ImageOrder,
  width: number,
  height: number,
  codec: Codec,
): Promise<PreparedOrder["masked"]> {
  const [first] = order.references;
  if (order.mask === undefined || first === undefined) return null;
  const mask = await decodeReference(
    order.mask,
    { width, height, fit: "fill", filter: "nearest" },
    "mask",
    codec,
  );
  const kept = await decodeReference(first, { width, height, fit: "fill" }, "image", codec);
  return { kept, mask };
}

function hashPixels(picture: Canvas): number {
  return Bun.hash.xxHash32(picture.file);
}
