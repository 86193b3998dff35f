import type { DeliveredImage, ImageDelivery } from "../../domain/delivered-image.ts";
import {
  isStreamedObject,
  streamJson,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-stream.ts";
import { isThought } from "./parts.ts";

export interface NativeReply {
  delivery: ImageDelivery;
  /** The vendor's own reply, where it spoke the protocol. */
  native: StreamedObject | undefined;
  /** Names a reply that the gateway words itself. */
  responseId: string;
}

/**
 * Says a delivery in the native protocol: the vendor's reply with all it has beside its pictures, or a new one.
 * Pictures are `inlineData`, or `fileData` where they were delivered as links; bytes are encoded slice by slice as
 * the caller takes them.
 */
export function writeReply({ delivery, native, responseId }: NativeReply): ReadableStream<Uint8Array> {
  return streamJson(native ? repeatReply(native, delivery) : newReply(delivery, responseId));
}

/** Pictures beyond those delivered were not asked for and are not billed, so they are left out. */
function repeatReply(native: StreamedObject, delivery: ImageDelivery): StreamedObject {
  const left = delivery.images.values();
  const repeatPart = (part: StreamedJson): StreamedJson[] => {
    if (!isFinalPicture(part)) return [part];
    const image = left.next().value;
    return image ? [repeatPicture(part, image, delivery)] : [];
  };
  const candidates = changeItems(native["candidates"], (candidate) => {
    if (!isStreamedObject(candidate) || !isStreamedObject(candidate["content"])) return [candidate];
    const { content } = candidate;
    const parts = changeItems(content["parts"], repeatPart);
    return [{ ...candidate, content: { ...content, ...(parts && { parts }) } }];
  });
  return { ...native, ...(candidates && { candidates }), modelVersion: delivery.model };
}

/** What a vendor said is repeated whatever its form, so nothing here may fail. */
function changeItems(
  items: StreamedJson | undefined,
  change: (item: StreamedJson) => StreamedJson[],
): StreamedJson[] | undefined {
  return Array.isArray(items) ? items.flatMap(change) : undefined;
}

/** Whether a part of a reply is a finished picture, and no draft among the model's thoughts. */
function isFinalPicture(part: StreamedJson): part is StreamedObject {
  if (!isStreamedObject(part) || isThought(part) || !isStreamedObject(part["inlineData"])) return false;
  const { mimeType, data } = part["inlineData"];
  const hasData = data instanceof Blob || (typeof data === "string" && data !== "");
  return typeof mimeType === "string" && mimeType.startsWith("image/") && hasData;
}

function repeatPicture(part: StreamedObject, image: DeliveredImage, delivery: ImageDelivery): StreamedObject {
  const written = writePicture(image, delivery);
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]): [string, StreamedJson][] =>
      key === "inlineData" ? Object.entries(written) : [[key, value]],
    ),
  );
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
