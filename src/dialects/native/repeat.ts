import type { ImageOrder, ReferenceImage, ResolvedSize } from "../../domain/image.ts";
import { ratioValue } from "../../domain/size.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { findField, findObject, findObjects, findText, withValue } from "./fields.ts";
import { readPicture, type PicturePart } from "./parts.ts";

export interface RepeatRules {
  /** Whether each turn must say whose it is; a turn without a role is the caller's. */
  demandsRoles: boolean;
}

/**
 * Says a caller's own body again for an upstream that speaks the protocol: every field as it came, but for pictures
 * that were fetched or made readable, and for a size or shape the model does not have. `native` must have been read
 * by `readRequest`, which has checked its form and found its pictures to be the order's references.
 */
export function repeatRequest(
  native: StreamedObject,
  { references, size }: Pick<ImageOrder, "references" | "size">,
  { demandsRoles }: RepeatRules,
): StreamedObject {
  const left = references.values();
  const repeatPart = (part: StreamedObject): StreamedObject => {
    const picture = readPicture(part);
    const reference = picture && left.next().value;
    return reference ? repeatPicture(part, picture, reference) : part;
  };
  const { model: _, ...body } = native;
  const contents = findObjects(body, "contents");
  const turns = (contents?.value ?? []).map((turn) => {
    const parts = findObjects(turn, "parts");
    return parts ? withValue(turn, parts.key, parts.value.map(repeatPart)) : turn;
  });
  const reported = withValue(body, contents?.key ?? "contents", demandsRoles ? turns.map(withRole) : turns);
  return alignSize(reported, size);
}

function withRole(turn: StreamedObject): StreamedObject {
  return findText(turn, "role") === undefined ? { ...turn, role: "user" } : turn;
}

/** Links are fetched by the gateway only, so the vendor gets the bytes that were checked. */
function repeatPicture(
  part: StreamedObject,
  picture: PicturePart,
  reference: ReferenceImage,
): StreamedObject {
  const mimeType = `image/${reference.format}`;
  if (picture.kind === "link") {
    const inline = { mimeType, data: reference.blob };
    const renamed = Object.entries(part).map(([key, value]) =>
      key === picture.file.key ? (["inlineData", inline] as const) : ([key, value] as const),
    );
    return Object.fromEntries(renamed);
  }
  const { inline, data } = picture;
  const reported = withValue(inline.value, data.key, reference.blob);
  const typeKey = findField(reported, "mimeType")?.key ?? "mimeType";
  const isTrue = isSameType(picture.mimeType, mimeType);
  return withValue(part, inline.key, isTrue ? reported : withValue(reported, typeKey, mimeType));
}

/** HEIF and HEIC are one format by their bytes. */
function isSameType(reported: string | undefined, found: string): boolean {
  return reported === found || (reported === "image/heif" && found === "image/heic");
}

/** The tier a vendor makes when it is told none. */
const DEFAULT_TIER = "1K";

function alignSize(body: StreamedObject, resolved: ResolvedSize): StreamedObject {
  const config = findObject(body, "generationConfig") ?? { key: "generationConfig", value: {} };
  const image = findObject(config.value, "imageConfig") ?? { key: "imageConfig", value: {} };
  const aligned = alignRatio(alignTier(image.value, resolved), resolved);
  if (aligned === image.value) return body;
  return withValue(body, config.key, withValue(config.value, image.key, aligned));
}

function alignTier(image: StreamedObject, { tier }: ResolvedSize): StreamedObject {
  const reported = findField(image, "imageSize");
  if ((reported?.value ?? DEFAULT_TIER) === tier) return image;
  return withValue(image, reported?.key ?? "imageSize", tier);
}

/** A shape the model does not have becomes its nearest one; a word that is no shape is left out. */
function alignRatio(image: StreamedObject, { ratio }: ResolvedSize): StreamedObject {
  const reported = findField(image, "aspectRatio");
  if (!reported || reported.value === ratio) return image;
  if (ratioValue(String(reported.value)) !== null) return withValue(image, reported.key, ratio);
  return Object.fromEntries(Object.entries(image).filter(([key]) => key !== reported.key));
}
