import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { createYield } from "../yielding.ts";
import { encodePicture } from "./encode.ts";
import { paintPicture, prepareStudio } from "./picture.ts";
import { detailOf, effectiveQuality } from "./quality.ts";
import { countImageTokens } from "./tokens.ts";

/** Orders that are painted at once; each holds up to a few hundred megabytes at the largest sizes. */
const MAX_CONCURRENT_GENERATIONS = 2;

/**
 * Draws pictures that say what was asked: the same order always gives the same bytes, at exactly its size.
 * Throws an `UpstreamError` of kind `rejected` when a reference cannot be decoded.
 */
export function createSandboxImageUpstream(): ImageUpstream {
  const easels = createSemaphore(MAX_CONCURRENT_GENERATIONS);
  return {
    async generate(order, signal) {
      using _easel = await easels.acquire(signal);
      return await generate(order, signal);
    },
  };
}

async function generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply> {
  const yieldToEventLoop = createYield(signal);
  const { image, family } = order.model;
  const format =
    order.format && image.formats.includes(order.format) ? order.format : (image.formats[0] ?? "png");
  const quality = effectiveQuality(order);
  const isTransparent = order.background === "transparent" && format !== "jpeg";
  const codecQuality = Math.max(1, order.compression ?? detailOf(quality).codecQuality);
  const { width, height } = order.size;

  const studio = await prepareStudio(order, { quality, isTransparent }, yieldToEventLoop);
  const count = Math.max(1, Math.min(order.count, image.maxImagesPerCall));
  const images: Blob[] = [];
  for (let number = 1; number <= count; number += 1) {
    const canvas = await paintPicture(studio, number, count, yieldToEventLoop);
    images.push(await encodePicture(canvas, { format, width, height, quality: codecQuality }));
    signal.throwIfAborted();
  }
  const background = isTransparent ? "transparent" : "opaque";
  return {
    images,
    isCompressed: true,
    quality,
    background: family === "A" ? background : undefined,
    usage: countImageTokens(order, quality, count),
  };
}
