import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { isObject, textOf, ownValue } from "../lib/json.ts";
import { createImageUpstream, makesOneImage } from "./images/image-upstream.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { wantedSize } from "./images/wanted-image.ts";
import {
  compatibleEmbedding,
  compatibleModels,
  compatibleProbe,
  compatibleText,
} from "./openai-compatible/compatible-provider.ts";
import { VENDORS } from "./openai-compatible/vendors.ts";
import type { Provider } from "./provider.ts";
import {
  extraHeaders,
  fanOutSetting,
  headerValue,
  httpAddress,
  pollIntervalSetting,
} from "./transport/channel-settings.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse, send } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { readJobId, RUNNING, runJob, type VendorJobStatus, type VendorJob } from "./transport/polling.ts";
import { fetchEach } from "./transport/result-link.ts";
import { type FailureReading, type VendorErrors } from "./transport/vendor-errors.ts";

const settings = z.object({
  region: z.enum(["cn", "global"]).default("cn").describe("Region of the key"),
  baseUrl: httpAddress.optional().describe("Base address before `/services/…`, instead of the region's own"),
  apiKey: headerValue,
  headers: extraHeaders,
  fanOut: fanOutSetting,
  tasks: z
    .boolean()
    .default(false)
    .describe("True to call image models as tasks, for models that the vendor serves only that way"),
  pollIntervalMs: pollIntervalSetting.default(3000),
});

type DashscopeSettings = z.infer<typeof settings>;

/** Alibaba Cloud's Model Studio: text, embeddings, and image models that are called synchronously or as tasks. */
export const dashscope: Provider<DashscopeSettings> = {
  name: "dashscope",
  title: VENDORS.dashscope.title,
  documentation: "An API key of Model Studio, of one region: cn or global.",
  settings,
  probe: (settings, signal) => compatibleProbe(VENDORS.dashscope, compatibleSettings(settings), signal),
  models: (settings, signal) => compatibleModels(VENDORS.dashscope, compatibleSettings(settings), signal),
  text: (settings) => compatibleText(VENDORS.dashscope, compatibleSettings(settings)),
  embedding: (settings) => compatibleEmbedding(VENDORS.dashscope, compatibleSettings(settings)),
  image(settings, codecSlots) {
    const { region, apiKey, headers, baseUrl = BASE_URLS[region], pollIntervalMs } = settings;
    const connection = createConnection({ baseUrl, apiKey, headers }, readFailure);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && makesOneImage(order),
      async generate(order, signal) {
        const polling = { intervalMs: pollIntervalMs, record: order.vendorJobs?.(0) };
        const links = settings.tasks
          ? await runJob(describeTask(order, connection), polling, signal)
          : await callNow(order, connection, signal);
        return { images: await fetchEach(links, connection.fetchResult, order.spool, signal) };
      },
    });
  },
};

const BASE_URLS: Readonly<Record<DashscopeSettings["region"], string>> = {
  cn: "https://dashscope.aliyuncs.com/api/v1",
  global: "https://dashscope-intl.aliyuncs.com/api/v1",
};

/**
 * Returns the settings of the compatible interfaces, with paths on the channel's host ("OpenAI compatible"). With an
 * own `baseUrl`, the address for the messages protocol is left out.
 */
function compatibleSettings({ region, apiKey, headers, baseUrl }: DashscopeSettings) {
  const { dashscope: vendor } = VENDORS;
  const at = (address: string) => new URL(new URL(address).pathname, baseUrl ?? BASE_URLS[region]).href;
  const messagesBaseUrl = baseUrl === undefined ? at(vendor.messagesBaseUrl) : undefined;
  return { baseUrl: at(vendor.baseUrl), messagesBaseUrl, apiKey, headers };
}

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 10 * 1024 * 1024 };

/**
 * Error kinds by the part of an error code before its first dot, in lower case without underscores. The vendor writes
 * both `DataInspectionFailed` and `data_inspection_failed` (Model Studio, "Error codes").
 */
const KIND_BY_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  datainspectionfailed: "refused",
  ipinfringementsuspect: "refused",
  invalidparameter: "rejected",
  invalidurl: "rejected",
  invalidapikey: "account",
  accessdenied: "account",
  arrearage: "account",
  modelnotfound: "account",
  throttling: "limited",
  internalerror: "overloaded",
  serviceunavailable: "overloaded",
};

function readFailure(body: Record<string, unknown>): FailureReading {
  const code = textOf(body["code"]);
  const [head = ""] = code.split(".");
  const kind = ownValue(KIND_BY_CODE, head.replaceAll("_", "").toLowerCase());
  return { code, message: textOf(body["message"]), kind };
}

/** Makes the synchronous call, which returns links to the images. */
async function callNow(
  order: ImageOrder,
  { baseUrl, headers, errors }: VendorConnection,
  signal: AbortSignal,
): Promise<string[]> {
  const url = `${baseUrl}/services/aigc/multimodal-generation/generation`;
  const parsed = await callJson("POST", { url, headers, body: writeRequest(order), signal }, errors.classify);
  const links = readLinks(parsed);
  if (links.length > 0) return links;
  // The response may contain an error although its status means success.
  if (textOf(parsed["code"]) === "") throw brokenResponse("gave no image");
  throw errors.classify({ status: 200, headers: new Headers() }, JSON.stringify(parsed));
}

/**
 * Describes an image request as a task. Only some models support tasks (Model Studio, "Manage asynchronous tasks"). A
 * task can be cancelled until it begins to run.
 */
function describeTask(
  order: ImageOrder,
  { baseUrl, headers, errors }: VendorConnection,
): VendorJob<string[]> {
  const taskUrl = (jobId: string): string => `${baseUrl}/tasks/${jobId}`;
  return {
    async submit(signal) {
      const url = `${baseUrl}/services/aigc/image-generation/generation`;
      const call = { url, headers: { ...headers, ...AS_TASK }, body: writeRequest(order), signal };
      const { output } = await callJson("POST", call, errors.classify);
      return { jobId: readJobId(isObject(output) ? output["task_id"] : null), jobStatus: RUNNING };
    },
    poll: async (jobId, signal) =>
      readTask(await callJson("GET", { url: taskUrl(jobId), headers, signal }, errors.classify), errors),
    cancel: (jobId, signal) =>
      send("POST", { url: `${taskUrl(jobId)}/cancel`, headers, signal }, errors.classify),
  };
}

const AS_TASK = { "x-dashscope-async": "enable" };

/** Reads a task. A failed task has code and message next to its status. An unknown id has the status `UNKNOWN`. */
function readTask(parsed: Record<string, unknown>, errors: VendorErrors): VendorJobStatus<string[]> {
  const output = isObject(parsed["output"]) ? parsed["output"] : {};
  const failed = (kind: UpstreamErrorKind, reading: FailureReading): VendorJobStatus<string[]> => ({
    state: "failed",
    error: errors.raise(kind, reading, 200),
  });
  const status = textOf(output["task_status"]);
  switch (status) {
    case "SUCCEEDED": {
      const links = readLinks(parsed);
      if (links.length > 0) return { state: "done", result: links };
      return { state: "failed", error: brokenResponse("succeeded without a picture") };
    }
    case "FAILED": {
      const reading = readFailure(output);
      return failed(reading.kind ?? "overloaded", reading);
    }
    case "CANCELED":
    case "SUSPENDED":
    case "UNKNOWN":
      return failed("overloaded", { code: status, message: "" });
    default:
      return RUNNING;
  }
}

/** Writes a request with references before the text, without a watermark. Models with one image per call refuse `n`. */
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
      // An edit without a size gets the shape of its reference.
      ...(!(size.isAuto && references.length > 0) && { size: `${wanted.width}*${wanted.height}` }),
      ...(max > 1 && { n: Math.min(count, max) }),
      watermark: false,
    },
  }));
}

/** Reads the links. An image is in a choice of its own, or is a part of a choice's message. */
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
