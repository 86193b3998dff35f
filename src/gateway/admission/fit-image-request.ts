import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest, ResolvedSize } from "../../domain/image.ts";
import { referenceLimit, type ImageModel } from "../../domain/model.ts";
import { resolveSize, priceTier } from "../../domain/size.ts";
import type { SizeTier } from "../../domain/usage.ts";
import { ownValue } from "../../lib/own-value.ts";

/** An image request fitted to its model: the values a vendor is sent and the request is billed as. */
export interface FittedImageRequest {
  size: ResolvedSize;
  /** One of the model's qualities or `auto`; undefined for a model without qualities. */
  quality: string | undefined;
  background: string | undefined;
  /** Fields of the caller that have no effect on this model; `quality` is in the response in any case. */
  dropped: readonly string[];
  priceTier: SizeTier;
  /** The quality by which the price is looked up: one of the model's, or `auto`. */
  priceQuality: string;
}

const QUALITIES = ["auto", "low", "medium", "high", "xhigh", "max"];
/** Quality names of older models and their present equivalents. */
const OLDER_QUALITIES: Readonly<Record<string, string>> = { standard: "medium", hd: "high" };
const BACKGROUNDS = ["auto", "opaque", "transparent"];

/**
 * Fits the size to the model and drops the fields that the model does not read. A value that its family does not know
 * is a 400. Counts reference images before any of them is fetched.
 */
export function fitToModel(request: ImageRequest, model: ImageModel): FittedImageRequest {
  const rules = FAMILIES[model.family];
  const maxReferences = referenceLimit(model);
  if (request.references.length > maxReferences) {
    const message = `This model takes at most ${maxReferences} reference image${maxReferences === 1 ? "" : "s"}.`;
    throw new GatewayError("too_many_reference_images", message, { param: "image" });
  }
  const { image } = model;
  const size = resolveSize(request.size, image);
  const quality = rules.quality ? oneOf("quality", currentWord(request.quality), QUALITIES) : undefined;
  const background = rules.quality ? oneOf("background", request.background, BACKGROUNDS) : undefined;
  const isOffered = quality !== undefined && image.qualities.includes(quality);
  const fitted = isOffered ? quality : "auto";
  const wanted = background ?? request.background;
  const sent = image.backgrounds.includes(background ?? "") ? background : undefined;
  return {
    size,
    quality: image.qualities.length > 0 ? fitted : undefined,
    background: sent,
    dropped: [
      // A model without a choice of backgrounds behaves as `auto`.
      ...(sent === undefined && wanted !== undefined && wanted !== "auto" ? ["background"] : []),
      ...(request.readMask && !rules.mask ? ["mask"] : []),
    ],
    priceTier: priceTier(size, request.size),
    priceQuality: fitted,
  };
}

function currentWord(quality: string | undefined): string | undefined {
  return quality !== undefined ? (ownValue(OLDER_QUALITIES, quality) ?? quality) : undefined;
}

function oneOf(name: string, value: string | undefined, words: readonly string[]): string | undefined {
  if (value === undefined || words.includes(value)) return value;
  const message = `\`${name}\` must be ${words.map((word) => `\`${word}\``).join(", ")}.`;
  throw new GatewayError("invalid_parameter", message, { param: name });
}
