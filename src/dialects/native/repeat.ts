import type { ImageOrder, ReferenceImage, ResolvedSize } from "../../domain/image.ts";
import { ratioValue } from "../../domain/size.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { findField, findObject, findObjects, findText, withValue } from "./fields.ts";
import { type PicturePart, readPicture } from "./parts.ts";

interface RepeatRules {
  /** True when the vendor requires a role in each turn. Then a turn without a role gets the role `user`. */
  demandsRoles: boolean;
}

/**
 * Returns the caller's body for an upstream of the same protocol. Removes `model` and adds required roles. Also
 * replaces pictures that were fetched or converted, and a size or ratio that the model does not support. `native` must
 * come from `readRequest`, because its pictures must be the references of the order.
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
  const requested = withValue(body, contents?.key ?? "contents", demandsRoles ? turns.map(withRole) : turns);
  return alignSize(requested, size);
}

function withRole(turn: StreamedObject): StreamedObject {
  return findText(turn, "role") === undefined ? { ...turn, role: "user" } : turn;
}

/** Replaces a picture by the checked bytes, because only the gateway may fetch links. */
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
  const requested = withValue(inline.value, data.key, reference.blob);
  const typeKey = findField(requested, "mimeType")?.key ?? "mimeType";
  const isTypeCorrect = isSameType(picture.mimeType, mimeType);
  return withValue(part, inline.key, isTypeCorrect ? requested : withValue(requested, typeKey, mimeType));
}

/** True when the found type is the declared type. HEIC may be declared as HEIF, because every HEIC file is HEIF. */
function isSameType(requested: string | undefined, found: string): boolean {
  return requested === found || (requested === "image/heif" && found === "image/heic");
}

/** The size tier that vendors use for a request without a tier. */
const DEFAULT_TIER = "1K";

function alignSize(body: StreamedObject, resolved: ResolvedSize): StreamedObject {
  const config = findObject(body, "generationConfig") ?? { key: "generationConfig", value: {} };
  const image = findObject(config.value, "imageConfig") ?? { key: "imageConfig", value: {} };
  const aligned = alignRatio(alignTier(image.value, resolved), resolved);
  if (aligned === image.value) return body;
  return withValue(body, config.key, withValue(config.value, image.key, aligned));
}

function alignTier(image: StreamedObject, { tier }: ResolvedSize): StreamedObject {
  const requested = findField(image, "imageSize");
  if ((requested?.value ?? DEFAULT_TIER) === tier) return image;
  return withValue(image, requested?.key ?? "imageSize", tier);
}

/** Replaces an unsupported ratio by the nearest supported ratio. Removes a value that is not a ratio. */
function alignRatio(image: StreamedObject, { ratio }: ResolvedSize): StreamedObject {
  const requested = findField(image, "aspectRatio");
  if (!requested || requested.value === ratio) return image;
  if (ratioValue(String(requested.value)) !== null) return withValue(image, requested.key, ratio);
  return Object.fromEntries(Object.entries(image).filter(([key]) => key !== requested.key));
}
