import {
  isHandle,
  isStreamedObject,
  type Handle,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-spool.ts";

/** A part of a reply that holds a picture, final or a draft. */
export type InlinePicture = StreamedObject & { inlineData: { data: Handle | string } };

/**
 * Replaces each part of a reply by the result of `change`. A vendor's reply is passed on in any form, so nothing here
 * throws.
 */
export function changeParts(
  reply: StreamedObject,
  change: (part: StreamedJson) => StreamedJson[],
): StreamedObject {
  const candidates = changeItems(reply["candidates"], (candidate) => {
    if (!isStreamedObject(candidate) || !isStreamedObject(candidate["content"])) return [candidate];
    const { content } = candidate;
    const parts = changeItems(content["parts"], change);
    return [{ ...candidate, content: { ...content, ...(parts && { parts }) } }];
  });
  return candidates ? { ...reply, candidates } : reply;
}

/** Whether a part is a picture in the message (Gemini API reference, `Blob`). */
export function isInlinePicture(part: StreamedJson): part is InlinePicture {
  if (!isStreamedObject(part) || !isStreamedObject(part["inlineData"])) return false;
  const { mimeType, data } = part["inlineData"];
  const hasData = (data !== undefined && isHandle(data)) || (typeof data === "string" && data !== "");
  return typeof mimeType === "string" && mimeType.startsWith("image/") && hasData;
}

/** Replaces the `inlineData` of a part by the fields of `picture`; all other fields keep their order. */
export function withPicture(part: StreamedObject, picture: StreamedObject): StreamedObject {
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
