import type { ImageOrder } from "../../domain/image.ts";
import { writeJsonBody, type JsonBody } from "../transport/json-body.ts";
import type { ReferenceRules } from "../images/reference-image.ts";
import { wantedFormat, wantedSize } from "../images/wanted-image.ts";

/**
 * Writes a generation or an edit, which are one and the same call: references in their order make it an edit (Ark
 * image generation reference). The size always goes out in pixels, since from a tier alone the model would choose
 * the ratio, and so the price, by the prompt.
 */
export function writeRequest(order: ImageOrder): JsonBody {
  const { formats } = order.model.image;
  const { width, height } = wantedSize(order);
  return writeJsonBody((base64) => {
    const images = order.references.map(({ blob, format }) => `data:image/${format};base64,${base64(blob)}`);
    return {
      model: order.upstreamModel,
      prompt: order.prompt,
      ...(images.length > 0 && { image: images.length === 1 ? images[0] : images }),
      size: `${width}x${height}`,
      // A model with one format refuses the field.
      ...(formats.length > 1 && { output_format: wantedFormat(order) }),
      response_format: "b64_json",
      watermark: false,
      ...writeGroup(order),
    };
  });
}

/** What the vendor reads (Ark image generation reference; HEIC by observation). */
export const REFERENCE_RULES: ReferenceRules = {
  formats: ["png", "jpeg", "webp", "bmp", "tiff", "gif", "heic"],
  maxBytes: 30_000_000,
};

/** Several pictures come as a group, on models that have it; on the others the fields are refused. */
function writeGroup({ count, model }: ImageOrder): object {
  const max = Math.min(count, model.image.maxImagesPerCall);
  if (max < 2) return {};
  return {
    sequential_image_generation: "auto",
    sequential_image_generation_options: { max_images: max },
  };
}
