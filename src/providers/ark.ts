import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { saneCount } from "../domain/usage.ts";
import { isObject, textOf } from "../lib/json.ts";
import { readImageList, type ImageList } from "./images/image-list.ts";
import { createImageUpstream, makesOneImage } from "./images/image-upstream.ts";
import { readImageUsage } from "./images/image-usage.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { wantedFormat, wantedSize } from "./images/wanted-image.ts";
import type { Provider } from "./provider.ts";
import { fanOutSetting, headerValue, httpAddress } from "./transport/channel-settings.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson, sendJson } from "./transport/json-call.ts";
import { readModels } from "./transport/model-list.ts";
import { probeByRefusal, UNKNOWN_MODEL } from "./transport/probe.ts";
import { type FailureReading, type VendorErrors } from "./transport/vendor-errors.ts";

const settings = z.object({
  region: z
    .enum(["cn", "global"])
    .default("cn")
    .describe("Region of the key; names of models belong to one region too"),
  baseUrl: httpAddress
    .optional()
    .describe("Base address before `/images/generations`, instead of the region's own"),
  apiKey: headerValue,
  fanOut: fanOutSetting,
});

type ArkSettings = z.infer<typeof settings>;

/** The Seedream models on Ark, in China (Volcengine) and elsewhere (BytePlus). */
export const ark: Provider<ArkSettings> = {
  name: "ark",
  title: "Volcengine Ark",
  documentation: "An API key of Ark, of one region: cn (Volcengine) or global (BytePlus).",
  settings,
  probe: ({ region, baseUrl = BASE_URLS[region], apiKey }, signal) => {
    const { headers, errors, ...connection } = createConnection({ baseUrl, apiKey }, readFailure);
    const body = writeJsonBody(() => ({ model: UNKNOWN_MODEL, prompt: "ping" }));
    const url = `${connection.baseUrl}/images/generations`;
    return probeByRefusal(() => callJson("POST", { url, headers, body, signal }, errors.classify));
  },
  models: ({ region, baseUrl = BASE_URLS[region], apiKey }, signal) => {
    const { headers, errors, ...connection } = createConnection({ baseUrl, apiKey }, readFailure);
    return readModels({ url: `${connection.baseUrl}/models`, headers, signal }, errors.classify, {
      nameOf: ({ id }) => (IMAGE_MODEL.test(textOf(id)) ? id : null),
    });
  },
  image({ region, baseUrl = BASE_URLS[region], apiKey, fanOut }, codecSlots) {
    const connection = createConnection({ baseUrl, apiKey }, readFailure);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      fansOut: (order) => fanOut && makesOneImage(order),
      generate: (order, signal) => generate(order, connection, signal),
    });
  },
};

/**
 * Matches the names of image models. The vendor's list has the format of OpenAI's list and contains all models of the
 * vendor. The vendor's clients read this list, although the reference does not mention it.
 */
const IMAGE_MODEL = /seed(?:ream|edit)/;

const BASE_URLS: Readonly<Record<ArkSettings["region"], string>> = {
  cn: "https://ark.cn-beijing.volces.com/api/v3",
  global: "https://ark.ap-southeast.bytepluses.com/api/v3",
};

/** Formats and maximum size of references (Ark image generation reference; HEIC by observation). */
const REFERENCE_RULES: ReferenceRules = {
  formats: ["png", "jpeg", "webp", "bmp", "tiff", "gif", "heic"],
  maxBytes: 30_000_000,
};

/**
 * Error kinds by the part of an error code before its first dot. The code takes precedence over the status, because an
 * exhausted quota has status 429 and a refusal has status 400 (Ark API reference, error codes).
 */
const KIND_BY_CODE: readonly (readonly [RegExp, UpstreamErrorKind])[] = [
  [/(?:SensitiveContentDetected|RiskDetection)$/, "refused"],
  [/^(QuotaExceeded|SetLimitExceeded)$/, "account"],
  [/^(AuthenticationError|AccountOverdueError|AccessDenied|OperationDenied)$/, "account"],
  [/^(ModelNotOpen|InvalidEndpointOrModel)$/, "account"],
  [/RateLimitExceeded$|^RequestBurstTooFast$/, "limited"],
  [/^(ServerOverloaded|InflightBatchsizeExceeded|InternalServiceError)$/, "overloaded"],
  [/^(InvalidParameter|MissingParameter|InvalidImageURL)$/, "rejected"],
];

function readFailure({ error }: Record<string, unknown>): FailureReading {
  if (!isObject(error)) return { code: "", message: "" };
  const code = textOf(error["code"]);
  const [head = ""] = code.split(".");
  const kind = KIND_BY_CODE.find(([pattern]) => pattern.test(head))?.[1];
  return { code, message: textOf(error["message"]), param: textOf(error["param"]), kind };
}

async function generate(
  order: ImageOrder,
  { baseUrl, headers, errors, fetchResult }: VendorConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url: `${baseUrl}/images/generations`, headers, body: writeRequest(order), signal };
  const response = await sendJson("POST", call, errors.classify);
  const list = await readImageList(response, order.spool, signal);
  const images = await list.pictures(list.items ?? [], fetchResult);
  if (images.length === 0) throw noImage(list, response, errors);
  return { images, usage: readUsage(list.parsed) };
}

/**
 * Writes the request for one picture. The vendor makes several pictures only as a series of related scenes, which may
 * have fewer pictures than requested. Generations and edits use the same call; references make it an edit (Ark image
 * generation reference). The size is always sent in pixels, because with a tier the model would choose the ratio by the
 * prompt.
 */
function writeRequest(order: ImageOrder): JsonBody {
  const { formats } = order.model.image;
  const { width, height } = wantedSize(order);
  return writeJsonBody((base64) => {
    const images = order.references.map(({ blob, format }) => `data:image/${format};base64,${base64(blob)}`);
    return {
      model: order.upstreamModel,
      prompt: order.prompt,
      ...(images.length > 0 && { image: images.length === 1 ? images[0] : images }),
      size: `${width}x${height}`,
      // A model with a single format refuses this field.
      ...(formats.length > 1 && { output_format: wantedFormat(order) }),
      response_format: "b64_json",
      watermark: false,
    };
  });
}

/**
 * Returns the error for a response without pictures. A response with a success status may contain errors of single
 * pictures or of the whole call (Ark reference, `data[].error`).
 */
function noImage({ parsed, items = [] }: ImageList, response: Response, { classify }: VendorErrors): Error {
  const bodies = [parsed["error"], ...items.map((item) => item["error"])].filter(isObject);
  const failures = bodies.map((error) => classify(response, JSON.stringify({ error })));
  // The error is a refusal only if every picture was refused. After any other error, another target may succeed.
  return failures.find(({ kind }) => kind !== "refused") ?? failures[0] ?? brokenResponse("gave no image");
}

/** Reads the usage. The vendor does not report the input tokens, so they are computed as total minus output. */
function readUsage({ usage }: Record<string, unknown>): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const output = saneCount(usage["output_tokens"]) ?? Number.NaN;
  const total = Math.max(output, saneCount(usage["total_tokens"]) ?? output);
  return readImageUsage({ input: total - output, output });
}
