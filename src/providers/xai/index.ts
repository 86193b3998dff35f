import { z } from "zod";
import type { ImageOrder, ImageReply, ReferenceImage } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { headerWord, httpAddress } from "../transport/channel-settings.ts";
import { connect } from "../transport/connection.ts";
import { brokenResponse } from "../transport/http.ts";
import { readImageList, type ImageList } from "../images/image-list.ts";
import { createImageUpstream } from "../images/image-upstream.ts";
import { writeJsonBody, type JsonBody } from "../transport/json-body.ts";
import { sendJson } from "../transport/json-call.ts";
import { hasError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import type { ReferenceRules } from "../images/reference-image.ts";
import type { FetchResult } from "../transport/result-link.ts";
import { createClassifier } from "./errors.ts";

const settings = z.object({
  /** Address in front of `/images/…`. */
  baseUrl: httpAddress.default("https://api.x.ai/v1"),
  apiKey: headerWord,
});

export type XaiSettings = z.infer<typeof settings>;

/** The images protocol of family D: ratio and resolution in place of pixels, edits in JSON (xAI image reference). */
export const xai: Provider<XaiSettings> = {
  name: "xai",
  settings,
  image(settings) {
    const vendor = open(settings);
    return createImageUpstream({
      rules: REFERENCE_RULES,
      generate: (order, signal) => generate(order, vendor, signal),
    });
  },
};

/** What is known to be read; the size is the one the vendor tells for pictures in general. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], maxBytes: 20 * 1024 * 1024 };

function open(settings: XaiSettings) {
  const connection = connect(settings);
  const { hostname } = new URL(connection.baseUrl);
  return { ...connection, classify: createClassifier(settings.apiKey, hostname) };
}

async function generate(
  order: ImageOrder,
  { baseUrl, headers, classify, fetchResult }: ReturnType<typeof open>,
  signal: AbortSignal,
): Promise<ImageReply> {
  const url = `${baseUrl}/images/${order.references.length > 0 ? "edits" : "generations"}`;
  const response = await sendJson("POST", { url, headers, body: writeRequest(order), signal }, classify);
  const list = await readImageList(response, order.spool, signal);
  if (hasError(list.parsed))
    throw classify({ status: response.status, headers: response.headers, bodyText: list.skeleton });
  return { images: await readImages(list, fetchResult), quality: chooseQuality(order) };
}

/** Only what the vendor knows: `size`, for one, is refused by it. */
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

/** One reference lends its own ratio to the picture, and several that of the first unless another is named. */
function writeRatio({ references, size }: ImageOrder): object {
  if (references.length === 1 || (references.length > 1 && size.isShapeFree)) return {};
  return { aspect_ratio: size.ratio };
}

/** Some models take a quality; which one is used without a word of the caller is for the catalogue to say. */
function chooseQuality({ quality, model }: ImageOrder): string | undefined {
  const { qualities, defaultQuality } = model.image;
  return quality !== undefined && qualities.includes(quality) ? quality : defaultQuality;
}

/** A moderated picture comes as an empty place, or not at all; when none is left the content was refused. */
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
