import type { ImageOrder } from "../../domain/image.ts";
import type { YieldToEventLoop } from "../yielding.ts";
import { createRandom, hashNumber } from "../random.ts";
import { createCanvas, fillRectangle, type Canvas } from "./canvas.ts";
import { decodeThumbnails, keepUnmasked, pasteThumbnails, planGrid, type Grid } from "./collage.ts";
import { drawLettering, layOut } from "./lettering.ts";
import { detailOf } from "./quality.ts";
import { decodeReference } from "./references.ts";
import { paintScenery } from "./scenery.ts";

/** What all pictures of one order share: the size they are painted at, and the decoded references. */
export interface Studio {
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

/** Under a mask at least this much is painted, so that the kept part of a usual picture stays sharp. */
const MIN_MASKED_PIXELS = 1_048_576;

/** Decodes what the order refers to, once for all its pictures. */
export async function prepareStudio(
  order: ImageOrder,
  look: { quality: string | undefined; isTransparent: boolean },
  yieldToEventLoop: YieldToEventLoop,
): Promise<Studio> {
  const { width, height } = paintedSize(order, look.quality);
  const area = { x: 0, y: 0, width, height: Math.floor(height * 0.55) };
  const grid = order.references.length === 0 ? null : planGrid(area, order.references.length);
  const thumbnails = grid === null ? [] : await decodeThumbnails(order.references, grid, yieldToEventLoop);
  const masked = await decodeMasked(order, width, height, yieldToEventLoop);
  const seed = hashNumber(order.prompt, order.upstreamModel, ...thumbnails.map(fingerprint));
  return { order, ...look, width, height, grid, thumbnails, masked, seed };
}

/** Paints picture `number` (from 1) of `count`. The same order gives the same pixels. */
export async function paintPicture(
  studio: Studio,
  number: number,
  count: number,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Canvas> {
  const canvas = createCanvas(studio.width, studio.height);
  const random = createRandom(studio.seed, number);
  const { shapes, grain } = detailOf(studio.quality);
  await paintScenery(
    canvas,
    random,
    { shapes, grain, isTransparent: studio.isTransparent },
    yieldToEventLoop,
  );
  if (studio.grid) pasteThumbnails(canvas, studio.grid, studio.thumbnails);
  drawWords(canvas, studio, `${number}/${count}`);
  if (studio.masked) await keepUnmasked(canvas, studio.masked.kept, studio.masked.mask, yieldToEventLoop);
  return canvas;
}

/** The prompt on a panel above the bottom, and under it what was asked for. */
function drawWords(canvas: Canvas, studio: Studio, position: string): void {
  const { width, height } = canvas;
  const { size, upstreamModel, prompt } = studio.order;
  const words = [upstreamModel, `${size.width}x${size.height}`, studio.quality, position];
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
  yieldToEventLoop: YieldToEventLoop,
): Promise<Studio["masked"]> {
  const [first] = order.references;
  if (order.mask === undefined || first === undefined) return null;
  const mask = await decodeReference(order.mask, { width, height, fit: "fill", filter: "nearest" }, "mask");
  await yieldToEventLoop();
  const kept = await decodeReference(first, { width, height, fit: "fill" }, "image");
  await yieldToEventLoop();
  return { kept, mask };
}

function fingerprint(picture: Canvas): number {
  return Bun.hash.xxHash32(picture.file);
}
