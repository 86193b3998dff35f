import { GatewayError } from "../../domain/gateway-error.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { type Field, findField, findObject, findText } from "./fields.ts";

/** A part of a turn with a picture. The bytes of the picture are in the message or behind a link. */
export type PicturePart =
  | { kind: "inline"; inline: Field<StreamedObject>; data: Field; mimeType: string | undefined }
  | { kind: "link"; file: Field<StreamedObject>; url: string };

/**
 * Reads a part as a picture. Returns undefined for other parts, and for inline drafts in a model's reasoning (Gemini
 * API reference, `Part`). Throws a `GatewayError` for data that cannot be a picture.
 */
export function readPicture(part: StreamedObject): PicturePart | undefined {
  const inline = findObject(part, "inlineData");
  const file = findObject(part, "fileData");
  if (inline && file) throw unreadable("A part has either `inlineData` or `fileData`, not both.");
  if (file) return readLink(file);
  if (!inline || isThought(part)) return undefined;
  const mimeType = readMimeType(inline.value);
  const data = findField(inline.value, "data");
  if (!data) throw unreadable("`inlineData` needs `data`: the picture in base64.");
  return { kind: "inline", inline, data, mimeType };
}

/** True for reasoning, which includes drafts of pictures. */
export function isThought(part: StreamedObject): boolean {
  return part["thought"] === true;
}

function readLink(file: Field<StreamedObject>): PicturePart {
  readMimeType(file.value);
  const url = findText(file.value, "fileUri");
  if (!url) throw unreadable("`fileData` needs `fileUri`: an https link to the picture.");
  return { kind: "link", file, url };
}

/** Reads the declared type, which must be a picture's type. The actual format is read from the bytes. */
function readMimeType(data: StreamedObject): string | undefined {
  const mimeType = findText(data, "mimeType");
  if (mimeType === undefined || /^image\//i.test(mimeType)) return mimeType;
  throw unreadable("This model takes pictures only: `mimeType` must be of an image, such as `image/png`.");
}

function unreadable(message: string): GatewayError {
  return new GatewayError("invalid_image", message, { param: "image" });
}
