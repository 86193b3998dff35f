import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { isObject } from "../lib/json.ts";
import { fanOutSetting, headerWord, httpAddress } from "./transport/channel-settings.ts";
import { connect } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { createImageUpstream, isSingle } from "./images/image-upstream.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import type { Provider } from "./provider.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { fetchEach } from "./transport/result-link.ts";
import { createVendorErrors, wordOf, type FailureReading } from "./transport/vendor-errors.ts";
import { wantedSize } from "./images/wanted-image.ts";

const settings = z.object({
  /** Where the key was made; keys belong to one region. */
  region: z.enum(["cn", "global"]).default("cn"),
  /** Address in front of `/services/…`, in place of the region's own. */
  baseUrl: httpAddress.optional(),
  apiKey: headerWord,
  fanOut: fanOutSetting,
});

export type DashscopeSettings = z.infer<typeof settings>;

/** The image models of Alibaba Cloud's model studio, by its synchronous call. */
export const dashscope: Provider<DashscopeSettings> = {
  name: "dashscope",
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

const BASE_URLS: Readonly<Record<DashscopeSettings["region"], string>> = {
  cn: "https://dashscope.aliyuncs.com/api/v1",
  global: "https://dashscope-intl.aliyuncs.com/api/v1",
};
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 10 * 1024 * 1024 };

/** Kinds by the part of a code before its first dot (model studio error codes). */
const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  DataInspectionFailed: "refused",
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

function open({ region, baseUrl = BASE_URLS[region], apiKey }: DashscopeSettings) {
  const connection = connect({ baseUrl, apiKey });
  const url = `${connection.baseUrl}/services/aigc/multimodal-generation/generation`;
  return { ...connection, url, errors: createVendorErrors(connection, readFailure) };
}

function readFailure(body: Record<string, unknown>): FailureReading {
  const code = wordOf(body["code"]);
  const [head = ""] = code.split(".");
  const kind = Object.hasOwn(KIND_BY_CODE, head) ? KIND_BY_CODE[head] : undefined;
  return { code, message: wordOf(body["message"]), kind };
}

async function generate(
  order: ImageOrder,
  { url, headers, errors, fetchResult }: ReturnType<typeof open>,
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url, headers, body: writeRequest(order), signal };
  const parsed = await callJson("POST", call, errors.classify);
  const links = readLinks(parsed);
  if (links.length > 0) return { images: await fetchEach(links, fetchResult, order.spool, signal) };
  // An error may come with the status of a success.
  if (wordOf(parsed["code"]) === "") throw brokenResponse("gave no image");
  throw errors.classify({ status: 200, headers: new Headers(), bodyText: JSON.stringify(parsed) });
}

/** References first, then the words; `n` is unknown to models that give one image. The default is a watermark. */
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

/** Each image is a choice of its own, or a part of one choice's message. */
function readLinks({ output }: Record<string, unknown>): string[] {
  const choices = isObject(output) && Array.isArray(output["choices"]) ? output["choices"] : [];
  return choices
    .filter(isObject)
    .flatMap(({ message }) =>
      isObject(message) && Array.isArray(message["content"]) ? message["content"] : [],
    )
    .flatMap((part: unknown) => (isObject(part) ? [wordOf(part["image"])] : []))
    .filter((link) => link !== "");
}
