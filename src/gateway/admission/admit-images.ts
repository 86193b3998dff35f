import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { type ImageQuote, quoteImage } from "../../domain/image-quote.ts";
import type { ImageRequest, ResolvedSize } from "../../domain/image.ts";
import { type ImageModel, referenceLimit } from "../../domain/model.ts";
import type { ImagePrice } from "../../domain/price.ts";
import { priceTier, resolveSize } from "../../domain/size.ts";
import type { SizeTier } from "../../domain/usage.ts";
import { ownValue } from "../../lib/json.ts";
import type { Core } from "../core.ts";
import { noPrice, requirePrice } from "../metering/price.ts";
import type { RequestContext } from "../request-context.ts";
import { type AdmittedImages, holdMoney } from "./admitted.ts";
import { requireFeatures, requireModel } from "./model-access.ts";

/** An admitted image request, with the values that were fitted to its model. */
export interface ImageAdmission extends Disposable {
  admitted: AdmittedImages;
  fitted: FittedImageRequest;
  quote: ImageQuote;
}

/** The price and the time (Unix milliseconds) of a job's submission. */
interface EarlierTerms {
  admittedAt: number;
  price: ImagePrice;
}

/**
 * Admits an image request before links are fetched and a vendor is called: decides model, features, size, price, limits
 * and hold. A job that runs keeps the price of its submission (`terms`). Throws a `GatewayError`.
 */
export async function admitImages(
  core: Core,
  context: RequestContext,
  request: ImageRequest,
  terms?: EarlierTerms,
): Promise<ImageAdmission> {
  const { principal, facts } = context;
  const directory = core.snapshot.directory();
  facts.askedModel = request.model;
  const model = requireModel(directory, principal, request.model, ["image"]);
  facts.model = model;
  requireFeatures(model, request.features ?? []);
  if (request.native && !FAMILIES[model.family].native) throw notNative();
  const fitted = fitToModel(request, model);
  const [ignored] = ignoredParams(request, fitted);
  if (ignored !== undefined && context.isStrict) throw unused(ignored);
  const admittedAt = terms?.admittedAt ?? core.clock.now();
  const price = terms?.price ?? requirePrice(directory, principal, model.id, "image", admittedAt);
  const quote = quoteImage(price, model.image, fitted.priceTier, fitted.priceQuality);
  if (!quote) throw noPrice();
  await context.grant.countImages(request.count);
  const ceiling = () => quote.rate.amount * BigInt(request.count);
  const admitted = await holdMoney(core, context, { model, price, admittedAt, ceiling });
  return { admitted, fitted, quote, [Symbol.dispose]: () => admitted.release() };
}

/** Returns the fields of the caller's request that have no effect on the model. */
export function ignoredParams(
  { ignored }: Pick<ImageRequest, "ignored">,
  { dropped }: Pick<FittedImageRequest, "dropped">,
): readonly string[] {
  return [...ignored, ...dropped];
}

function unused(param: string): GatewayError {
  const message = `\`${param}\` has no effect on this model. Leave it out, or choose another model.`;
  return new GatewayError("unsupported_parameter", message, { param });
}

function notNative(): GatewayError {
  const message =
    "This model does not speak this protocol. Send the request to /v1/images/generations or /v1/images/edits.";
  return new GatewayError("wrong_endpoint_for_model", message, { param: "model" });
}

/** An image request fitted to its model. The vendor gets the fitted values, and the price depends on them. */
export interface FittedImageRequest {
  size: ResolvedSize;
  /** One of the model's qualities or `auto`; undefined for a model without qualities. */
  quality: string | undefined;
  background: string | undefined;
  /**
   * `background` and `mask` if the caller sent them without effect. `quality` is not listed: the response reports it.
   */
  dropped: readonly string[];
  priceTier: SizeTier;
  /** The quality of the price: one of the model's qualities, or `auto`. */
  priceQuality: string;
}

const QUALITIES = ["auto", "low", "medium", "high", "xhigh", "max"];
/** Quality names of older models, each with its current equivalent. */
const OLDER_QUALITIES: Readonly<Record<string, string>> = { standard: "medium", hd: "high" };
const BACKGROUNDS = ["auto", "opaque", "transparent"];

/**
 * Fits the size to the model and drops the fields that the model does not read. Throws a 400 for an unknown `quality`
 * or `background` if the model's family has these fields, and for too many reference images, before any of them is
 * fetched.
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
      // A model without a choice of backgrounds behaves as with `auto`, so `auto` is not reported as dropped.
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
