import type { DeliveredImage, ImageDelivery } from "../../domain/image.ts";
import type { ImageTokens, ModalityTokens } from "../../domain/usage.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";

/** Qualities that replies show. `auto` and a vendor's own names do not tell callers the quality of the picture. */
const QUALITIES: ReadonlySet<string> = new Set(["low", "medium", "high", "xhigh", "max"]);

/** Writes a reply of the image interface. A blob becomes the base64 text of its bytes. */
export function writeReply(delivery: ImageDelivery, created: number): StreamedObject {
  const { model, width, height, quality, background, format, images, usage } = delivery;
  return {
    created,
    model,
    size: `${width}x${height}`,
    ...(QUALITIES.has(quality) && { quality }),
    output_format: format,
    background,
    data: images.map(writeImage),
    ...(usage && { usage: writeUsage(usage) }),
  };
}

/** Writes the usage. Only details of the input are required (OpenAI's specification, `ImagesResponse`). */
function writeUsage(usage: ImageTokens): StreamedObject {
  const { input, output, total, inputDetails = { text: input, image: 0 }, outputDetails } = usage;
  return {
    input_tokens: input,
    input_tokens_details: writeDetails(inputDetails),
    output_tokens: output,
    ...(outputDetails && { output_tokens_details: writeDetails(outputDetails) }),
    total_tokens: total,
  };
}

function writeDetails({ text, image }: ModalityTokens): StreamedObject {
  return { text_tokens: text, image_tokens: image };
}

function writeImage({ blob, url, isInline }: DeliveredImage): StreamedObject {
  return { ...(url !== undefined && { url }), ...(isInline && { b64_json: blob }) };
}
