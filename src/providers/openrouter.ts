import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import { readVendorCost } from "../domain/usage.ts";
import { isObject, textOf } from "../lib/json.ts";
import { readImageList } from "./images/image-list.ts";
import { createImageUpstream, makesOneImage } from "./images/image-upstream.ts";
import { readImageUsage } from "./images/image-usage.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { billedQuality, followsReference, wantedFormat } from "./images/wanted-image.ts";
import {
  compatibleEmbedding,
  compatibleModels,
  compatibleProbe,
  compatibleText,
  messagesAddress,
  responsesSetting,
} from "./openai-compatible/compatible-provider.ts";
import { VENDORS } from "./openai-compatible/vendors.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, fanOutSetting, headerValue, httpAddress } from "./transport/channel-settings.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { sendJson } from "./transport/json-call.ts";
import { type FailureReading } from "./transport/vendor-errors.ts";

const settings = z.object({
  baseUrl: httpAddress
    .default(VENDORS.openrouter.baseUrl)
    .describe("Base address before `/chat/completions` and `/images`"),
  apiKey: headerValue,
  headers: extraHeaders,
  messagesBaseUrl: messagesAddress,
  responses: responsesSetting,
  fanOut: fanOutSetting,
});

type OpenRouterSettings = z.infer<typeof settings>;

/** Text and embeddings by the compatible interfaces, and images by an endpoint that accepts ratio and resolution. */
export const openrouter: Provider<OpenRouterSettings> = {
  name: "openrouter",
  title: VENDORS.openrouter.title,
  documentation: "An API key of openrouter.ai.",
  settings,
  probe: (settings, signal) => compatibleProbe(VENDORS.openrouter, settings, signal, KEY_PATH),
  models: (settings, signal) => compatibleModels(VENDORS.openrouter, settings, signal),
  text: (settings) => compatibleText(VENDORS.openrouter, settings),
  embedding: (settings) => compatibleEmbedding(VENDORS.openrouter, settings),
  image(settings, codecSlots) {
    const connection = createConnection(settings, readFailure);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && makesOneImage(order),
      generate: (order, signal) => generate(order, connection, signal),
    });
  },
};

/** The key's description, read by probes: the list of models is public (OpenRouter API, "Get current API key"). */
const KEY_PATH = "key";

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 20 * 1024 * 1024 };

/** Reads a failure. A refusal has status 403 and metadata about the flagged content (OpenRouter error reference). */
function readFailure({ error }: Record<string, unknown>): FailureReading {
  if (!isObject(error)) return { code: "", message: "" };
  const { code, message, metadata } = error;
  const isModerated = isObject(metadata) && ("reasons" in metadata || "flagged_input" in metadata);
  return {
    code: textOf(code),
    message: textOf(message),
    status: Number.isInteger(code) ? Number(code) : undefined,
    ...(isModerated && { kind: "refused" }),
  };
}

async function generate(
  order: ImageOrder,
  { baseUrl, headers, errors, fetchResult }: VendorConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url: `${baseUrl}/images`, headers, body: writeRequest(order), signal };
  const response = await sendJson("POST", call, errors.classify);
  const { parsed, items, pictures } = await readImageList(response, order.spool, signal);
  if (parsed["error"]) throw errors.classify(response, JSON.stringify(parsed));
  if (!items) throw brokenResponse("gave no list of images");
  const images = await pictures(items, fetchResult);
  if (images.length === 0) throw brokenResponse("gave no image");
  const quality = billedQuality(order);
  return {
    images,
    ...(quality !== undefined && { quality }),
    isCompressed: isCompressing(order),
    usage: readUsage(parsed),
    vendorCost: readCost(parsed),
  };
}

/** Writes a request. The vendor refuses `size` with `resolution`, and `n` for models with one image per call. */
function writeRequest(order: ImageOrder): JsonBody {
  const { upstreamModel, prompt, references, size, background, compression, model } = order;
  const quality = billedQuality(order);
  const count = Math.min(order.count, model.image.maxImagesPerCall);
  const format = isFormatRequested(order) ? wantedFormat(order) : undefined;
  return writeJsonBody((base64) => ({
    model: upstreamModel,
    prompt,
    ...(count > 1 && { n: count }),
    ...(!followsReference(order) && { aspect_ratio: size.ratio }),
    resolution: size.tier,
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
    ...(format && { output_format: format }),
    ...(format && isCompressing(order) && { output_compression: compression }),
    ...(references.length > 0 && {
      input_references: references.map(({ blob, format }) => ({
        type: "image_url",
        image_url: { url: `data:image/${format};base64,${base64(blob)}` },
      })),
    }),
  }));
}

/** True when the vendor applies the caller's compression. The vendor does so only if it returns the caller's format. */
function isCompressing(order: ImageOrder): boolean {
  const { format, compression } = order;
  const isLossy = format === "jpeg" || format === "webp";
  return compression !== undefined && isLossy && isFormatRequested(order) && wantedFormat(order) === format;
}

/** True when the request contains the format. Models with a single format refuse this field. */
function isFormatRequested({ model, format }: ImageOrder): boolean {
  return model.image.formats.length > 1 && format !== undefined;
}

/** Reads the cost in US dollars (OpenRouter API, "Usage accounting"). */
function readCost({ usage }: Record<string, unknown>): ImageReply["vendorCost"] {
  return isObject(usage) ? readVendorCost(usage["cost"]) : undefined;
}

function readUsage({ usage }: Record<string, unknown>): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  return readImageUsage({
    input: usage["prompt_tokens"],
    output: usage["completion_tokens"],
  });
}
