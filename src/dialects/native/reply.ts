import type { DeliveredImage, ImageDelivery } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import {
  type Handle,
  isHandle,
  isStreamedObject,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-spool.ts";
import { isThought } from "./parts.ts";

/**
 * Writes a reply of the native protocol. This is the vendor's own reply with replaced pictures, or a new reply with the
 * id `responseId`. Pictures are `inlineData`, or `fileData` when they are links. A blob becomes the base64 text of its
 * bytes.
 */
export function writeReply(delivery: ImageDelivery, responseId: string): StreamedObject {
  const { native } = delivery;
  return native ? repeatReply(native, delivery) : newReply(delivery, responseId);
}

/** Repeats the vendor's reply. Omits pictures beyond those in `delivery`, because they are not billed. */
function repeatReply(native: StreamedObject, delivery: ImageDelivery): StreamedObject {
  const left = delivery.images.values();
  const repeatPart = (part: StreamedJson): StreamedJson[] => {
    if (!isFinalPicture(part)) return [part];
    const image = left.next().value;
    return image ? [withPicture(part, writePicture(image, delivery))] : [];
  };
  return { ...changeParts(native, repeatPart), modelVersion: delivery.model };
}

/** True for a final picture. False for a draft in the model's reasoning. */
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

/** A part of a reply with a picture: a final picture or a draft. */
type InlinePicture = StreamedObject & { inlineData: { data: Handle | string } };

/** Replaces each part of a reply by the result of `change`. Never throws: a vendor's reply may have any form. */
function changeParts(reply: StreamedObject, change: (part: StreamedJson) => StreamedJson[]): StreamedObject {
  const candidates = changeItems(reply["candidates"], (candidate) => {
    if (!isStreamedObject(candidate) || !isStreamedObject(candidate["content"])) return [candidate];
    const { content } = candidate;
    const parts = changeItems(content["parts"], change);
    return [{ ...candidate, content: { ...content, ...(parts && { parts }) } }];
  });
  return candidates ? { ...reply, candidates } : reply;
}

/** True for a picture whose bytes are in the message (Gemini API reference, `Blob`). */
function isInlinePicture(part: StreamedJson): part is InlinePicture {
  if (!isStreamedObject(part) || !isStreamedObject(part["inlineData"])) return false;
  const { mimeType, data } = part["inlineData"];
  const hasData = (data !== undefined && isHandle(data)) || (typeof data === "string" && data !== "");
  return typeof mimeType === "string" && mimeType.startsWith("image/") && hasData;
}

/** Replaces `inlineData` in a part by the fields of `picture`. The order of the other fields stays the same. */
function withPicture(part: StreamedObject, picture: StreamedObject): StreamedObject {
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]): [string, StreamedJson][] =>
      key === "inlineData" ? Object.entries(picture) : [[key, value]],
    ),
  );
}

function changeItems(
  items: StreamedJson | undefined,
  change: (item: StreamedJson) => StreamedJson[],
): StreamedJson[] | undefined {
  return Array.isArray(items) ? items.flatMap(change) : undefined;
}

/** Stores a draft picture and returns its link. Returns null when the draft cannot be stored. */
export type LinkDraft = (draft: Blob) => Promise<{ format: ImageFormat; url: string } | null>;

/** Replaces the draft pictures in a reply's reasoning by links, for a caller who wants no bytes in messages. */
export async function linkDrafts(reply: StreamedObject, link: LinkDraft): Promise<StreamedObject> {
  const drafts: InlinePicture[] = [];
  changeParts(reply, (part) => {
    if (isDraft(part)) drafts.push(part);
    return [part];
  });
  const linked = new Map<StreamedJson, StreamedObject>();
  for (const draft of drafts) linked.set(draft, await linkDraft(draft, link));
  return changeParts(reply, (part) => [linked.get(part) ?? part]);
}

function isDraft(part: StreamedJson): part is InlinePicture {
  return isInlinePicture(part) && isThought(part);
}

async function linkDraft(part: InlinePicture, link: LinkDraft): Promise<StreamedObject> {
  const { data } = part.inlineData;
  const draft = typeof data === "string" ? decodeDraft(data) : data instanceof Blob ? data : data.blob;
  const found = draft && (await link(draft));
  if (!found) return part;
  return withPicture(part, { fileData: { mimeType: `image/${found.format}`, fileUri: found.url } });
}

function decodeDraft(base64: string): Blob | null {
  const bytes = decodeBase64(base64);
  return bytes && new Blob([Uint8Array.from(bytes)]);
}
