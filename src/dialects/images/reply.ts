import type { DeliveredImage, ImageDelivery } from "../../domain/delivered-image.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";

/** Writes a reply of the image interface; a blob is written as the base64 of its bytes. */
export function writeReply(delivery: ImageDelivery, created: number): StreamedObject {
  const { model, width, height, quality, background, format, images, usage } = delivery;
  return {
    created,
    model,
    size: `${width}x${height}`,
    quality,
    output_format: format,
    background,
    data: images.map(writeImage),
    ...(usage && {
      usage: { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.total },
    }),
  };
}

function writeImage({ blob, url, isInline }: DeliveredImage): StreamedObject {
  return { ...(url !== undefined && { url }), ...(isInline && { b64_json: blob }) };
}
