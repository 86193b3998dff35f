import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import { saneCount } from "../domain/usage.ts";
import { isObject } from "../lib/json.ts";
import { fanOutSetting, headerWord, httpAddress } from "./transport/channel-settings.ts";
import { connect } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { readImageList } from "./images/image-list.ts";
import { createImageUpstream, isSingle } from "./images/image-upstream.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { sendJson } from "./transport/json-call.ts";
import type { Provider } from "./provider.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { createVendorErrors, wordOf, type FailureReading } from "./transport/vendor-errors.ts";
import { followsReference, wantedFormat } from "./images/wanted-image.ts";

const settings = z.object({
  /** Address in front of `/images`. */
  baseUrl: httpAddress.default("https://openrouter.ai/api/v1"),
  apiKey: headerWord,
  fanOut: fanOutSetting,
});

export type OpenRouterSettings = z.infer<typeof settings>;

/** The images route of OpenRouter: ratio and resolution for every model, pictures back as base64. */
export const openrouter: Provider<OpenRouterSettings> = {
  name: "openrouter",
  settings,
  image(settings) {
    const vendor = open(settings);
    return createImageUpstream({
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && isSingle(order),
      generate: (order, signal) => generate(order, vendor, signal),
    });
  },
};

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 20 * 1024 * 1024 };

function open(settings: OpenRouterSettings) {
  const connection = connect(settings);
  const url = `${connection.baseUrl}/images`;
  return { ...connection, url, errors: createVendorErrors(connection, readFailure) };
}

/** A refusal is a 403 that says what was flagged; any other 403 is the account's (OpenRouter error reference). */
function readFailure({ error }: Record<string, unknown>): FailureReading {
  if (!isObject(error)) return { code: "", message: "" };
  const { code, message, metadata } = error;
  const isModerated = isObject(metadata) && ("reasons" in metadata || "flagged_input" in metadata);
  return {
    code: wordOf(code),
    message: wordOf(message),
    status: Number.isInteger(code) ? Number(code) : undefined,
    ...(isModerated && { kind: "refused" }),
  };
}

async function generate(
  order: ImageOrder,
  { url, headers, errors, fetchResult }: ReturnType<typeof open>,
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url, headers, body: writeRequest(order), signal };
  const response = await sendJson("POST", call, errors.classify);
  const { parsed, items, skeleton, pictures } = await readImageList(response, order.spool, signal);
  if (parsed["error"])
    throw errors.classify({ status: response.status, headers: response.headers, bodyText: skeleton });
  if (!items) throw brokenResponse("gave no list of images");
  const images = await pictures(items, fetchResult);
  if (images.length === 0) throw brokenResponse("gave no image");
  return { images, isCompressed: isCompressing(order), usage: readUsage(parsed["usage"]) };
}

/** `size` is never sent: beside a resolution it is refused. A count is refused where a call gives one image. */
function writeRequest(order: ImageOrder): JsonBody {
  const { upstreamModel, prompt, references, size, quality, background, compression, model } = order;
  const count = Math.min(order.count, model.image.maxImagesPerCall);
  const format = isFormatAsked(order) ? wantedFormat(order) : undefined;
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

/** Only the format that the caller wants is compressed by the vendor; another one is made into it here. */
function isCompressing(order: ImageOrder): boolean {
  const { format, compression } = order;
  const isLossy = format === "jpeg" || format === "webp";
  return compression !== undefined && isLossy && isFormatAsked(order) && wantedFormat(order) === format;
}

/** A model of one format is not asked for it. */
function isFormatAsked({ model, format }: ImageOrder): boolean {
  return model.image.formats.length > 1 && format !== undefined;
}

/** Impossible numbers count as no report. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const input = saneCount(usage["prompt_tokens"]);
  const output = saneCount(usage["completion_tokens"]);
  if (input === null || output === null) return undefined;
  return { input, output, total: saneCount(usage["total_tokens"]) ?? input + output };
}
