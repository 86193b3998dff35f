import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest } from "../../domain/image.ts";
import { quoteImage, type ImageQuote } from "../../domain/image-quote.ts";
import type { ImagePrice } from "../../domain/price.ts";
import type { Core } from "../core.ts";
import { noPrice, requirePrice } from "../metering/price.ts";
import type { RequestContext } from "../request-context.ts";
import { holdMoney, type AdmittedImages } from "./admitted.ts";
import { fitToModel, type FittedImageRequest } from "./fit-image-request.ts";
import { requireFeatures, requireModel } from "./model-access.ts";

/** An admitted request with the values that were fitted to its model. */
export interface ImageAdmission extends Disposable {
  admitted: AdmittedImages;
  fitted: FittedImageRequest;
  quote: ImageQuote;
}

/** The price of an earlier admission and its time in Unix milliseconds. */
interface EarlierTerms {
  admittedAt: number;
  price: ImagePrice;
}

/**
 * Makes all decisions that precede fetching links and calling a vendor. A job was admitted at its submission and keeps
 * the price of that time when it runs. Throws a `GatewayError`.
 */
export async function admitImages(
  core: Core,
  context: RequestContext,
  request: ImageRequest,
  terms?: EarlierTerms,
): Promise<ImageAdmission> {
  const { principal, facts } = context;
  const directory = core.snapshot.directory();
  const model = requireModel(directory, principal, request.model, ["image"]);
  facts.model = model;
  requireFeatures(model, request.features ?? []);
  if (request.native && !FAMILIES[model.family].native) throw notNative();
  const fitted = fitToModel(request, model);
  const admittedAt = terms?.admittedAt ?? core.clock.now();
  const price = terms?.price ?? requirePrice(directory, principal, model.id, "image", admittedAt);
  const quote = quoteImage(price, model.image, fitted.priceTier, fitted.priceQuality);
  if (!quote) throw noPrice();
  await context.grant.countImages(request.count);
  const ceiling = () => quote.rate.amount * BigInt(request.count);
  const admitted = await holdMoney(core, context, { model, price, admittedAt, ceiling });
  return { admitted, fitted, quote, [Symbol.dispose]: () => admitted.release() };
}

function notNative(): GatewayError {
  const message =
    "This model does not speak this protocol. Send the request to /v1/images/generations or /v1/images/edits.";
  return new GatewayError("wrong_endpoint_for_model", message, { param: "model" });
}
