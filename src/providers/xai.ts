import { z } from "zod";
import type { ImageOrder, ImageReply, ReferenceImage } from "../domain/image.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { readVendorCost } from "../domain/usage.ts";
import { isObject } from "../lib/json.ts";
import { readImageList, type ImageList } from "./images/image-list.ts";
import { createImageUpstream } from "./images/image-upstream.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { hasError, readOpenAiFailure } from "./openai-compatible/errors.ts";
import {
  compatibleModels,
  compatibleProbe,
  compatibleText,
  responsesSetting,
} from "./openai-compatible/compatible-provider.ts";
import { VENDORS } from "./openai-compatible/vendors.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, headerValue, httpAddress } from "./transport/channel-settings.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse, type ResponseHeaders } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { sendJson } from "./transport/json-call.ts";
import type { FetchResult } from "./transport/result-link.ts";
import type { FailureReading } from "./transport/vendor-errors.ts";

const settings = z.object({
  baseUrl: httpAddress
    .default(VENDORS.xai.baseUrl)
    .describe("Base address before `/chat/completions` and `/images/…`"),
  apiKey: headerValue,
  headers: extraHeaders,
  responses: responsesSetting,
});

type XaiSettings = z.infer<typeof settings>;

/** Chat completions and images. Images have ratio and resolution, not pixels; edits are JSON (xAI API reference). */
export const xai: Provider<XaiSettings> = {
  name: "xai",
  title: VENDORS.xai.title,
  documentation: "An API key of console.x.ai.",
  settings,
  probe: (settings, signal) => compatibleProbe(VENDORS.xai, settings, signal),
  models: (settings, signal) => compatibleModels(VENDORS.xai, settings, signal),
  text: (settings) => compatibleText(VENDORS.xai, settings),
  image(settings, codecSlots) {
    const connection = createConnection(settings, readFailure);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      generate: (order, signal) => generate(order, connection, signal),
    });
  },
};

/** Rules for references: formats that are known to work, and the vendor's general maximum size of images. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], maxBytes: 20 * 1024 * 1024 };

/** Matches the message of a moderated picture. Its status is 400, without a specific code. */
const MODERATED = /\bcontent moderation\b/;

/** Reads a failure: `{code, error}`, whose `code` may be a sentence, or the nested `{error: {message}}`. */
function readFailure(
  body: Record<string, unknown>,
  httpStatus: number,
  headers: ResponseHeaders,
): FailureReading {
  const reading = readOpenAiFailure(body, httpStatus, headers);
  return httpStatus === 400 && MODERATED.test(reading.message) ? { ...reading, kind: "refused" } : reading;
}

async function generate(
  order: ImageOrder,
  { baseUrl, headers, errors, fetchResult }: VendorConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const url = `${baseUrl}/images/${order.references.length > 0 ? "edits" : "generations"}`;
  const response = await sendJson(
    "POST",
    { url, headers, body: writeRequest(order), signal },
    errors.classify,
  );
  const list = await readImageList(response, order.spool, signal);
  if (hasError(list.parsed)) throw errors.classify(response, JSON.stringify(list.parsed));
  const images = await readImages(list, fetchResult);
  return { images, quality: chooseQuality(order), vendorCost: readCost(list.parsed) };
}

/** Reads the cost, which is in ticks: 10^10 ticks are one US dollar (xAI SDK). */
function readCost({ usage }: Record<string, unknown>): ImageReply["vendorCost"] {
  return isObject(usage) ? readVendorCost(usage["cost_in_usd_ticks"], 10_000_000_000) : undefined;
}

/** Writes a request. The vendor refuses unknown fields, including `size`. */
function writeRequest(order: ImageOrder): JsonBody {
  const { references } = order;
  const quality = chooseQuality(order);
  return writeJsonBody((base64) => {
    const images = references.map((reference) => writeReference(reference, base64));
    return {
      model: order.upstreamModel,
      prompt: order.prompt,
      ...(images.length === 1 && { image: images[0] }),
      ...(images.length > 1 && { images }),
      n: Math.min(order.count, order.model.image.maxImagesPerCall),
      ...writeRatio(order),
      resolution: order.size.tier === "1K" ? "1k" : "2k",
      ...(quality !== undefined && { quality }),
      response_format: "b64_json",
    };
  });
}

function writeReference({ blob, format }: ReferenceImage, base64: (blob: Blob) => string): object {
  return { url: `data:image/${format};base64,${base64(blob)}`, type: "image_url" };
}

/**
 * Writes the ratio. With one reference, no ratio is sent, because the picture always gets the reference's ratio. With
 * several references, a ratio may be sent; by default the picture gets the ratio of the first reference.
 */
function writeRatio({ references, size }: ImageOrder): object {
  if (references.length === 1 || (references.length > 1 && size.isShapeFree)) return {};
  return { aspect_ratio: size.ratio };
}

/** Returns the quality to request, by default the catalogue's. Models without qualities refuse the field. */
function chooseQuality({ quality, model }: ImageOrder): string | undefined {
  const { qualities, defaultQuality } = model.image;
  return quality !== undefined && qualities.includes(quality) ? quality : defaultQuality;
}

/** Reads the images. The item of a moderated picture is missing or empty. If all are moderated, throws a refusal. */
async function readImages(
  { items, pictures }: ImageList,
  fetchResult: FetchResult,
): Promise<ImageReply["images"]> {
  if (!items) throw brokenResponse("gave no list of images");
  const images = await pictures(
    items.filter((item) => item["respect_moderation"] !== false),
    fetchResult,
  );
  if (images.length > 0) return images;
  throw new UpstreamError("refused", "the vendor moderated every image", { status: 200 });
}
