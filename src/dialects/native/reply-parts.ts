import {
  isHandle,
  isStreamedObject,
  type Handle,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-spool.ts";

/** A part of a reply that holds a picture, finished or a draft. */
export type InlinePicture = StreamedObject & { inlineData: { data: Handle | string } };

/**
 * The same reply with each part replaced by what `change` makes of it. What a vendor said is repeated whatever its
 * form, so nothing here fails.
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

/** A part whose `inlineData` gives way to what is in `picture`; everything beside it stays where it is. */
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
