import type { ImageOrder, ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { planSize } from "../../domain/size.ts";
import { writeJsonBody, type JsonBody } from "../json-body.ts";

/**
 * Writes a generation or an edit, which are one and the same call: references in their order make it an edit (Ark
 * image generation reference). The size always goes out in pixels, since from a tier alone the model would choose
 * the ratio, and so the price, by the prompt.
 */
export function writeRequest(order: ImageOrder): JsonBody {
  const { formats } = order.model.image;
  return writeJsonBody((base64) => {
    const images = order.references.map(({ blob, format }) => `data:image/${format};base64,${base64(blob)}`);
    return {
      model: order.upstreamModel,
      prompt: order.prompt,
      ...(images.length > 0 && { image: images.length === 1 ? images[0] : images }),
      size: writeSize(order),
      // A model with one format refuses the field.
      ...(formats.length > 1 && { output_format: chooseFormat(order.format, formats) }),
      response_format: "b64_json",
      watermark: false,
      ...writeGroup(order),
    };
  });
}

/** What the vendor reads (Ark image generation reference; HEIC by observation). */
export const REFERENCE_FORMATS: readonly ReferenceImage["format"][] = [
  "png",
  "jpeg",
  "webp",
  "bmp",
  "tiff",
  "gif",
  "heic",
];
/** Most bytes of one reference, before base64. */
export const MOST_REFERENCE_BYTES = 30_000_000;

/** An edit that names no size keeps the shape of its first image. */
function writeSize({ size, model, references: [first] }: ImageOrder): string {
  if (!size.isAuto || !first) return `${size.width}x${size.height}`;
  const wish = { kind: "tier", tier: size.tier, ratio: `${first.width}:${first.height}` } as const;
  const { width, height } = planSize(wish, model.image);
  return `${width}x${height}`;
}

/** A format that only the gateway can make is best made from a picture without loss. */
function chooseFormat(
  wanted: ImageFormat | undefined,
  formats: readonly ImageFormat[],
): ImageFormat | undefined {
  if (wanted === undefined || formats.includes(wanted)) return wanted ?? formats[0];
  return formats.includes("png") ? "png" : formats[0];
}

/** Several pictures come as a group, on models that have it; on the others the fields are refused. */
function writeGroup({ count, model }: ImageOrder): object {
  const most = Math.min(count, model.image.maxImagesPerCall);
  if (most < 2) return {};
  return {
    sequential_image_generation: "auto",
    sequential_image_generation_options: { max_images: most },
  };
}
