import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import type { ImageUpstream } from "../gateway/ports.ts";
import { isObject } from "../lib/json.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { fanOutSetting, headerWord, httpAddress, withoutEndSlash } from "./channel-settings.ts";
import { fanOut } from "./fan-out.ts";
import { brokenAnswer } from "./http.ts";
import { writeJsonBody, type JsonBody } from "./json-body.ts";
import { callJson, JSON_HEADERS } from "./json-call.ts";
import type { Provider } from "./provider.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";
import { createFetchResult, fetchEach, type FetchResult } from "./result-link.ts";
import { createVendorErrors, wordOf, type FailureReading, type VendorErrors } from "./vendor-errors.ts";
import { refuseMask } from "./wanted-image.ts";

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
  image: (settings) => createImageUpstream(connect(settings)),
};

interface Connection {
  url: string;
  headers: Readonly<Record<string, string>>;
  fansOut: boolean;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

const BASE_URLS: Readonly<Record<DashscopeSettings["region"], string>> = {
  cn: "https://dashscope.aliyuncs.com/api/v1",
  global: "https://dashscope-intl.aliyuncs.com/api/v1",
};
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], mostBytes: 10 * 1024 * 1024 };
/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;

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

function connect({ region, baseUrl, apiKey, fanOut }: DashscopeSettings): Connection {
  const base = withoutEndSlash(baseUrl ?? BASE_URLS[region]);
  return {
    url: `${base}/services/aigc/multimodal-generation/generation`,
    headers: { ...JSON_HEADERS, authorization: `Bearer ${apiKey}` },
    fansOut: fanOut,
    errors: createVendorErrors({ apiKey, baseUrl: base }, readFailure),
    fetchResult: createFetchResult(base),
  };
}

function readFailure(body: Record<string, unknown>): FailureReading {
  const code = wordOf(body["code"]);
  const [head = ""] = code.split(".");
  const kind = Object.hasOwn(KIND_BY_CODE, head) ? KIND_BY_CODE[head] : undefined;
  return { code, message: wordOf(body["message"]), kind };
}

function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  return {
    async draw(order, signal) {
      refuseMask(order);
      const references = await fitReferences(order.references, REFERENCE_RULES, slots, signal);
      const ready = { ...order, references };
      const drawOnce = (signal: AbortSignal) => drawThrough(ready, connection, signal);
      const fansOut = connection.fansOut && order.model.image.maxImagesPerCall === 1;
      return await (fansOut ? fanOut(order.count, drawOnce, signal) : drawOnce(signal));
    },
  };
}

async function drawThrough(
  order: ImageOrder,
  { url, headers, errors, fetchResult }: Connection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url, headers, body: writeRequest(order), signal };
  const answer = await callJson("POST", call, errors.classify);
  const links = readLinks(answer);
  if (links.length > 0) return { images: await fetchEach(links, fetchResult, order.spool, signal) };
  // An error may come with the status of a success.
  if (wordOf(answer["code"]) === "") throw brokenAnswer("gave no image");
  throw errors.classify({ status: 200, headers: new Headers(), bodyText: JSON.stringify(answer) });
}

/** References first, then the words; `n` is unknown to models that give one image. The default is a watermark. */
function writeRequest(order: ImageOrder): JsonBody {
  const { upstreamModel, prompt, references, size, count, model } = order;
  const most = model.image.maxImagesPerCall;
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
      ...(!(size.isAuto && references.length > 0) && { size: `${size.width}*${size.height}` }),
      ...(most > 1 && { n: Math.min(count, most) }),
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
