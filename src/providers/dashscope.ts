import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { isObject, textOf } from "../lib/json.ts";
import { createImageUpstream, makesOneImage } from "./images/image-upstream.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { wantedSize } from "./images/wanted-image.ts";
import { compatibleEmbedding, compatibleText } from "./openai-compatible/compatible-provider.ts";
import { VENDORS } from "./openai-compatible/vendors.ts";
import type { Provider } from "./provider.ts";
import { extraHeaders, fanOutSetting, headerValue, httpAddress } from "./transport/channel-settings.ts";
import { createConnection, type Connection } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { fetchEach } from "./transport/result-link.ts";
import { type FailureReading } from "./transport/vendor-errors.ts";

const settings = z.object({
  /** Region of the key. */
  region: z.enum(["cn", "global"]).default("cn"),
  /** Address in front of `/services/…`, instead of the region's own. */
  baseUrl: httpAddress.optional(),
  apiKey: headerValue,
  headers: extraHeaders,
  fanOut: fanOutSetting,
});

type DashscopeSettings = z.infer<typeof settings>;

/** Alibaba Cloud's model studio: chat completions, and the image models by their synchronous call. */
export const dashscope: Provider<DashscopeSettings> = {
  name: "dashscope",
  settings,
  text: (settings) => compatibleText(VENDORS.dashscope, compatibleSettings(settings)),
  embedding: (settings) => compatibleEmbedding(VENDORS.dashscope, compatibleSettings(settings)),
  image(settings, codecSlots) {
    const { region, apiKey, headers, baseUrl = BASE_URLS[region] } = settings;
    const connection = createConnection({ baseUrl, apiKey, headers }, readFailure);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && makesOneImage(order),
      generate: (order, signal) => generate(order, connection, signal),
    });
  },
};

const BASE_URLS: Readonly<Record<DashscopeSettings["region"], string>> = {
  cn: "https://dashscope.aliyuncs.com/api/v1",
  global: "https://dashscope-intl.aliyuncs.com/api/v1",
};

/** The compatible interfaces are at other paths of the same host (Model Studio, "OpenAI compatible"). */
function compatibleSettings({ region, apiKey, headers, baseUrl }: DashscopeSettings) {
  const { dashscope: vendor } = VENDORS;
  const at = (address: string) => new URL(new URL(address).pathname, baseUrl ?? BASE_URLS[region]).href;
  const messagesBaseUrl = baseUrl === undefined ? at(vendor.messagesBaseUrl) : undefined;
  return { baseUrl: at(vendor.baseUrl), messagesBaseUrl, apiKey, headers };
}

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 10 * 1024 * 1024 };

/** Kinds by the part of a code before its first dot (model studio error codes). */
const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  DataInspectionFailed: "refused",
  IPInfringementSuspect: "refused",
  InvalidParameter: "rejected",
  InvalidURL: "rejected",
  InvalidApiKey: "account",
  AccessDenied: "account",
  Arrearage: "account",
  ModelNotFound: "account",
  Throttling: "limited",
  InternalError: "overloaded",
  ServiceUnavailable: "overloaded",
};

function readFailure(body: Record<string, unknown>): FailureReading {
  const code = textOf(body["code"]);
  const [head = ""] = code.split(".");
  const kind = Object.hasOwn(KIND_BY_CODE, head) ? KIND_BY_CODE[head] : undefined;
  return { code, message: textOf(body["message"]), kind };
}

async function generate(
  order: ImageOrder,
  { baseUrl, headers, errors, fetchResult }: Connection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const url = `${baseUrl}/services/aigc/multimodal-generation/generation`;
  const call = { url, headers, body: writeRequest(order), signal };
  const parsed = await callJson("POST", call, errors.classify);
  const links = readLinks(parsed);
  if (links.length > 0) return { images: await fetchEach(links, fetchResult, order.spool, signal) };
  // An error may come with the status of a success.
  if (textOf(parsed["code"]) === "") throw brokenResponse("gave no image");
  throw errors.classify({ status: 200, headers: new Headers() }, JSON.stringify(parsed));
}

/** References come before the text. Models that make one image refuse `n`. The vendor's default is a watermark. */
function writeRequest(order: ImageOrder): JsonBody {
  const { upstreamModel, prompt, references, size, count, model } = order;
  const max = model.image.maxImagesPerCall;
  const wanted = wantedSize(order);
  return writeJsonBody((base64) => ({
    model: upstreamModel,
    input: {
      messages: [
        {
          role: "user",
          content: [
            ...references.map(({ blob, format }) => ({
              image: `data:image/${format};base64,${base64(blob)}`,
            })),
            { text: prompt },
          ],
        },
      ],
    },
    parameters: {
      // Without a size an edit keeps the shape of its reference.
      ...(!(size.isAuto && references.length > 0) && { size: `${wanted.width}*${wanted.height}` }),
      ...(max > 1 && { n: Math.min(count, max) }),
      watermark: false,
    },
  }));
}

/** Each image is a choice, or a part of one choice's message. */
function readLinks({ output }: Record<string, unknown>): string[] {
  const choices = isObject(output) && Array.isArray(output["choices"]) ? output["choices"] : [];
  return choices
    .filter(isObject)
    .flatMap(({ message }) =>
      isObject(message) && Array.isArray(message["content"]) ? message["content"] : [],
    )
    .flatMap((part: unknown) => (isObject(part) ? [textOf(part["image"])] : []))
    .filter((link) => link !== "");
}
