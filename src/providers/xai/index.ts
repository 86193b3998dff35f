import { z } from "zod";
import type { ImageOrder, ImageReply, ReferenceImage } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { brokenAnswer, post, type Classify } from "../http.ts";
import { readImageList, type ImageList } from "../image-list.ts";
import { writeJsonBody, type JsonBody } from "../json-body.ts";
import { hasError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import { fitReferences, type ReferenceRules } from "../reference-image.ts";
import { createFetchResult, type FetchResult } from "../result-link.ts";
import { createClassifier } from "./errors.ts";

const settings = z.object({
  /** Address in front of `/images/…`. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .default("https://api.x.ai/v1"),
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces"),
});

export type XaiSettings = z.infer<typeof settings>;

/** The images protocol of family D: ratio and resolution in place of pixels, edits in JSON (xAI image reference). */
export const xai: Provider<XaiSettings> = {
  name: "xai",
  settings,
  image: (settings) => createImageUpstream(connect(settings)),
};

interface Connection {
  base: string;
  headers: Readonly<Record<string, string>>;
  classify: Classify;
  fetchResult: FetchResult;
}

/** What is known to be read; the size is the one the vendor tells for pictures in general. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], mostBytes: 20 * 1024 * 1024 };
/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;

function connect({ baseUrl, apiKey }: XaiSettings): Connection {
  const base = baseUrl.replace(/\/+$/, "");
  return {
    base,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "user-agent": "model-inference-gateway",
    },
    classify: createClassifier(apiKey, new URL(base).hostname),
    fetchResult: createFetchResult(base),
  };
}

function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  return {
    async draw(order, signal) {
      const references = await fitReferences(order.references, REFERENCE_RULES, slots, signal);
      const { body, byteLength } = writeRequest({ ...order, references });
      const url = `${connection.base}/images/${references.length > 0 ? "edits" : "generations"}`;
      const headers = { ...connection.headers, "content-length": String(byteLength) };
      const response = await post({ url, headers, body, signal }, connection.classify);
      const list = await readImageList(response, order.spool, signal);
      const { status } = response;
      if (hasError(list.answer))
        throw connection.classify({ status, headers: response.headers, bodyText: list.outline });
      return { images: await readImages(list, connection.fetchResult), quality: chooseQuality(order) };
    },
  };
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
      n: order.count,
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
  if (references.length === 1 || (references.length > 1 && size.isAuto)) return {};
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
  if (!items) throw brokenAnswer("gave no list of images");
  const images = await pictures(
    items.filter((item) => item["respect_moderation"] !== false),
    fetchResult,
  );
  if (images.length > 0) return images;
  throw new UpstreamError("refused", "the vendor moderated every image", { status: 200 });
}
