import type { ImageOrder, ImageReply, ResolvedSize } from "../../domain/image.ts";
import { resolveSize } from "../../domain/size.ts";
import type { ImageTokens } from "../../domain/usage.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import type { FairSemaphore, Semaphore } from "../../lib/semaphore.ts";
import { countTokens } from "../text/tokens.ts";
import { encodePicture } from "./codec.ts";
import { paintPicture, prepareOrder } from "./picture.ts";
import { detailOf, effectiveQuality } from "./quality.ts";
import { ownValue } from "../../lib/own-value.ts";

/**
 * Generates pictures that show their prompt: the same order always gives the same bytes, at exactly its size.
 * Throws an `UpstreamError` of kind `rejected` when a reference cannot be decoded.
 */
export function createSandboxImageUpstream(_settings: unknown, codecSlots: FairSemaphore): ImageUpstream {
  return {
    isRepeatable: true,
    generate: (order, signal) => generate(order, codecSlots.of(order.organization), signal),
  };
}

async function generate(requested: ImageOrder, slots: Semaphore, signal: AbortSignal): Promise<ImageReply> {
  const order = { ...requested, size: sizeOf(requested) };
  const codec = { slots, signal };
  const { image, family } = order.model;
  const format =
    order.format && image.formats.includes(order.format) ? order.format : (image.formats[0] ?? "png");
  const quality = effectiveQuality(order);
  const isTransparent = order.background === "transparent" && format !== "jpeg";
  // A picture that is converted afterwards must not lose quality twice.
  const isCompressed = order.format === undefined || order.format === format;
  const compression = isCompressed ? order.compression : undefined;
  const codecQuality = Math.max(1, compression ?? detailOf(quality).codecQuality);
  const { width, height } = order.size;

  const prepared = await prepareOrder(order, { quality, isTransparent }, codec);
  const count = Math.max(1, Math.min(order.count, image.maxImagesPerCall));
  const images: Blob[] = [];
  for (let number = 1; number <= count; number += 1) {
    const canvas = await paintPicture(prepared, number, count, signal);
    images.push(await encodePicture(canvas, { format, width, height, quality: codecQuality }, codec));
    signal.throwIfAborted();
  }
  const background = isTransparent ? "transparent" : "opaque";
  return {
    images,
    isCompressed,
    quality,
    background: family === "A" ? background : undefined,
    usage: countImageTokens(order, quality, count),
  };
}

/** The size to generate: an edit without a shape of its own gets the one nearest to image 1, at its tier. */
function sizeOf({ size, references, model }: ImageOrder): ResolvedSize {
  const [first] = references;
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** Tokens that one reference counts as. */
const TOKENS_PER_REFERENCE = 560;

/** Patches along the longer edge by quality; the vendors' published counts follow such a grid. */
const PATCHES: Readonly<Record<string, number>> = { low: 16, medium: 48, high: 96, xhigh: 128, max: 192 };
const DEFAULT_PATCHES = 32;

/** The true tokens of the prompt, and an output that grows with size and quality. */
function countImageTokens(order: ImageOrder, quality: string | undefined, count: number): ImageTokens {
  const { width, height } = order.size;
  const longPatches = (quality !== undefined && ownValue(PATCHES, quality)) || DEFAULT_PATCHES;
  const shortPatches = Math.max(
    1,
    Math.round((longPatches * Math.min(width, height)) / Math.max(width, height)),
  );
  const each = Math.ceil((longPatches * shortPatches * (2_000_000 + width * height)) / 4_000_000);
  const pictures = order.references.length + (order.mask === undefined ? 0 : 1);
  const inputDetails = { text: countTokens(order.prompt), image: pictures * TOKENS_PER_REFERENCE };
  const input = inputDetails.text + inputDetails.image;
  const output = each * count;
  const outputDetails = { text: 0, image: output };
  return { input, output, total: input + output, inputDetails, outputDetails };
}
