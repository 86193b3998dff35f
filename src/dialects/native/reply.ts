import type { DeliveredImage, ImageDelivery } from "../../domain/delivered-image.ts";
import type { StreamedJson, StreamedObject } from "../../lib/json-spool.ts";
import { isThought } from "./parts.ts";
import { changeParts, isInlinePicture, withPicture } from "./reply-parts.ts";

/**
 * Writes a reply of the native protocol: the vendor's own with other pictures, or a new one named by `responseId`.
 * Pictures are `inlineData`, or `fileData` where they were delivered as links; a blob is written as the base64 of its
 * bytes.
 */
export function writeReply(delivery: ImageDelivery, responseId: string): StreamedObject {
  const { native } = delivery;
  return native ? repeatReply(native, delivery) : newReply(delivery, responseId);
}

/** Pictures beyond the requested ones are not billed and are left out. */
function repeatReply(native: StreamedObject, delivery: ImageDelivery): StreamedObject {
  const left = delivery.images.values();
  const repeatPart = (part: StreamedJson): StreamedJson[] => {
    if (!isFinalPicture(part)) return [part];
    const image = left.next().value;
    return image ? [withPicture(part, writePicture(image, delivery))] : [];
  };
  return { ...changeParts(native, repeatPart), modelVersion: delivery.model };
}

/** A final picture, not a draft among the model's thoughts. */
function isFinalPicture(part: StreamedJson): part is StreamedObject {
  return isInlinePicture(part) && !isThought(part);
}

function writePicture({ blob, url }: DeliveredImage, { format }: ImageDelivery): StreamedObject {
  const mimeType = `image/${format}`;
  return url === undefined
    ? { inlineData: { mimeType, data: blob } }
    : { fileData: { mimeType, fileUri: url } };
}

function newReply(delivery: ImageDelivery, responseId: string): StreamedObject {
  const { images, usage, model } = delivery;
  const parts = images.map((image) => writePicture(image, delivery));
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    ...(usage && {
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.total,
      },
    }),
    modelVersion: model,
    responseId,
  };
}
