import type { ImageOrder, ImageReply, ResolvedSize } from "../../domain/image.ts";
import { resolveSize } from "../../domain/size.ts";
import type { ImageTokens } from "../../domain/usage.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import { ownValue } from "../../lib/json.ts";
import type { FairSemaphore, Semaphore } from "../../lib/semaphore.ts";
import { countTokens } from "../text/tokens.ts";
import { encodePicture } from "./codec.ts";
import { paintPicture, prepareOrder } from "./picture.ts";

/**
 * Returns an upstream that paints pictures with the text of the prompt, in exactly the ordered size. Equal orders give
 * equal bytes. The upstream throws a `rejected` `UpstreamError` when a reference (input picture) cannot be decoded.
 */
export function createSandboxImageUpstream(_settings: unknown, codecSlots: FairSemaphore): ImageUpstream {
  return {
    isRepeatable: true,
    generate: (order, signal) => generate(order, codecSlots.of(order.organization), signal),
  };
}

/** The settings of one quality: for painting, for encoding and for counting tokens. */
interface Detail {
  /** Number of painted pixels. A larger picture is painted with this number of pixels and then enlarged. */
  pixels: number;
  /** Number of ranges of hills in the landscape. */
  ranges: number;
  /** Bit mask of the low bits of a pixel that get random values. */
  grain: number;
  /** Quality of the JPEG and WebP codecs when the caller requests no compression. */
  codecQuality: number;
  /** Number of patches along the longer edge. Vendors document that they count tokens by patches. */
  patches: number;
}

const DETAILS: Readonly<Record<string, Detail>> = {
  low: { pixels: 160_000, ranges: 3, grain: 0, codecQuality: 70, patches: 16 },
  medium: { pixels: 400_000, ranges: 4, grain: 0x000100, codecQuality: 80, patches: 48 },
  high: { pixels: 1_048_576, ranges: 5, grain: 0x000300, codecQuality: 90, patches: 96 },
  xhigh: { pixels: 1_600_000, ranges: 6, grain: 0x000700, codecQuality: 95, patches: 128 },
  max: { pixels: 2_400_000, ranges: 7, grain: 0x000f00, codecQuality: 100, patches: 192 },
};

/** The settings for models without qualities. */
const PLAIN: Detail = { pixels: 400_000, ranges: 4, grain: 0x000100, codecQuality: 80, patches: 32 };

/** Returns the settings of a quality. An unknown quality gets the settings for models without qualities. */
export function detailOf(quality: string | undefined): Detail {
  return (quality !== undefined && ownValue(DETAILS, quality)) || PLAIN;
}

async function generate(requested: ImageOrder, slots: Semaphore, signal: AbortSignal): Promise<ImageReply> {
  const order = { ...requested, size: sizeOf(requested) };
  const codec = { slots, signal };
  const { image, family } = order.model;
  const format =
    order.format && image.formats.includes(order.format) ? order.format : (image.formats[0] ?? "png");
  const quality = effectiveQuality(order);
  const detail = detailOf(quality);
  const isTransparent = order.background === "transparent" && format !== "jpeg";
  // A picture that is converted later must not be compressed twice with loss.
  const isCompressed = order.format === undefined || order.format === format;
  const compression = isCompressed ? order.compression : undefined;
  const codecQuality = Math.max(1, compression ?? detail.codecQuality);
  const { width, height } = order.size;

  const prepared = await prepareOrder(order, { ...detail, quality, isTransparent }, codec);
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
    usage: countImageTokens(order, detail.patches, count),
  };
}

/**
 * Returns the size to generate. An edit without a requested ratio gets the ratio of the first reference, or the nearest
 * ratio of the model, in the requested tier.
 */
function sizeOf({ size, references, model }: ImageOrder): ResolvedSize {
  const [first] = references;
  if (!size.isShapeFree || !first) return size;
  const ratio = `${first.width}:${first.height}`;
  return resolveSize({ kind: "tier", tier: size.tier, ratio }, model.image);
}

/** Returns the quality that is used. Returns undefined for models without qualities. */
function effectiveQuality(order: ImageOrder): string | undefined {
  const { qualities, defaultQuality } = order.model.image;
  if (qualities.length === 0) return undefined;
  if (order.quality !== undefined && qualities.includes(order.quality)) return order.quality;
  return defaultQuality ?? qualities[0];
}

/** Number of tokens that each reference (input picture) or mask costs. */
const TOKENS_PER_REFERENCE = 560;

/** Returns the token counts of a request: exact for the prompt; for the output, growing with size and quality. */
function countImageTokens(order: ImageOrder, patches: number, count: number): ImageTokens {
  const { width, height } = order.size;
  const shortPatches = Math.max(1, Math.round((patches * Math.min(width, height)) / Math.max(width, height)));
  const each = Math.ceil((patches * shortPatches * (2_000_000 + width * height)) / 4_000_000);
  const pictures = order.references.length + (order.mask === undefined ? 0 : 1);
  const inputDetails = { text: countTokens(order.prompt), image: pictures * TOKENS_PER_REFERENCE };
  const input = inputDetails.text + inputDetails.image;
  const output = each * count;
  const outputDetails = { text: 0, image: output };
  return { input, output, total: input + output, inputDetails, outputDetails };
}
