import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import type { UpstreamError, UpstreamErrorKind } from "../domain/upstream-error.ts";
import { isObject } from "../lib/json.ts";
import { fanOutSetting, headerWord, httpAddress, pollIntervalMs } from "./transport/channel-settings.ts";
import { connect } from "./transport/connection.ts";
import { brokenResponse, send, type FailedResponse, type VendorRequest } from "./transport/http.ts";
import { createImageUpstream } from "./images/image-upstream.ts";
import { writeJsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { modelFor, modelsSetting, writeInputs, type ModelInputs } from "./images/model-inputs.ts";
import { readJobId, RUNNING, runJob, type JobStatus, type VendorJob } from "./transport/polling.ts";
import type { Provider } from "./provider.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { fetchEach } from "./transport/result-link.ts";
import {
  createVendorErrors,
  readDetail,
  wordOf,
  type FailureReading,
  type VendorErrors,
} from "./transport/vendor-errors.ts";

const settings = z.object({
  /** Address of the queue. */
  baseUrl: httpAddress.default("https://queue.fal.run"),
  apiKey: headerWord,
  fanOut: fanOutSetting,
  pollIntervalMs,
  models: modelsSetting,
});

export type FalSettings = z.infer<typeof settings>;

/** The queue of fal: a request is handed in, looked at until it has ended, and its result asked for. */
export const fal: Provider<FalSettings> = {
  name: "fal",
  settings,
  image(settings) {
    const vendor = open(settings);
    const inputsOf = ({ upstreamModel }: ImageOrder) => settings.models[upstreamModel] ?? DEFAULT_INPUTS;
    return createImageUpstream({
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && inputsOf(order).count === undefined,
      async generate(order, signal) {
        const job = describeJob(order, inputsOf(order), vendor);
        const links = readLinks(await runJob(job, settings.pollIntervalMs, signal), vendor.errors);
        return { images: await fetchEach(links, vendor.fetchResult, order.spool, signal) };
      },
    });
  },
};

type Vendor = ReturnType<typeof open>;

/** What most of its models take; the settings name what is different. */
const DEFAULT_INPUTS: ModelInputs = {
  references: "image_urls[]",
  size: "image_size",
  count: "num_images",
  formats: { png: "png", jpeg: "jpeg" },
};
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 10 * 1024 * 1024 };

/** Types of problems that say more than their status (fal error reference). */
const KIND_BY_TYPE: Readonly<Record<string, UpstreamErrorKind>> = {
  content_policy_violation: "refused",
  no_media_generated: "broken",
  downstream_service_error: "overloaded",
  downstream_service_unavailable: "overloaded",
  internal_server_error: "overloaded",
  generation_timeout: "overloaded",
};

function open(settings: FalSettings) {
  const connection = connect(settings, { authorization: `Key ${settings.apiKey}` });
  return { ...connection, errors: createVendorErrors(connection, readFailure) };
}

function readFailure(body: Record<string, unknown>): FailureReading {
  const reading = readDetail(body);
  return Object.hasOwn(KIND_BY_TYPE, reading.code)
    ? { ...reading, kind: KIND_BY_TYPE[reading.code] }
    : reading;
}

type Result = Record<string, unknown>;

function describeJob(
  order: ImageOrder,
  inputs: ModelInputs,
  { baseUrl, headers, errors }: Vendor,
): VendorJob<string, Result> {
  const model = modelFor(order, inputs);
  // Jobs are found under owner and application only, whatever path of it made them.
  const [owner, application] = model.split("/");
  const requests = `${baseUrl}/${owner}/${application}/requests`;
  return {
    async submit(signal) {
      const body = writeJsonBody((base64) => writeInputs(order, inputs, base64));
      const call = { url: `${baseUrl}/${model}`, headers, body, signal };
      const { request_id: id } = await callJson("POST", call, errors.classify);
      return { jobId: readJobId(id), jobStatus: RUNNING };
    },
    async poll(jobId, signal) {
      const call = { url: `${requests}/${jobId}/status`, headers, signal };
      const { status } = await callJson("GET", call, errors.classify);
      if (status !== "COMPLETED") return RUNNING;
      return await readResult({ url: `${requests}/${jobId}`, headers, signal }, errors);
    },
    cancel: (jobId, signal) =>
      send("PUT", { url: `${requests}/${jobId}/cancel`, headers, signal }, errors.classify),
  };
}

/** A job that failed tells so in place of its result, with a status of its own and a list of problems. */
async function readResult(
  call: Omit<VendorRequest, "body">,
  errors: VendorErrors,
): Promise<JobStatus<Result>> {
  let failure: UpstreamError | undefined;
  const classify = (response: FailedResponse): UpstreamError => {
    const error = errors.classify(response);
    if (isJobsOwn(response, error)) failure = error;
    return error;
  };
  try {
    return { state: "done", result: await callJson("GET", call, classify) };
  } catch (error) {
    if (failure) return { state: "failed", error: failure };
    throw error;
  }
}

/** A job lists its problems, or is told off in a sentence; trouble of the queue is a sentence, too, and of its own. */
function isJobsOwn({ bodyText }: FailedResponse, { kind }: UpstreamError): boolean {
  return kind === "rejected" || /"detail"\s*:\s*\[/.test(bodyText);
}

/** A picture that was found indecent comes black and is named in a list beside it; it counts as not delivered. */
function readLinks({ images, has_nsfw_concepts: indecent }: Result, errors: VendorErrors): string[] {
  if (!Array.isArray(images)) throw brokenResponse("gave no list of images");
  const isIndecent = (index: number) => Array.isArray(indecent) && indecent[index] === true;
  const links = images
    .filter((_, index) => !isIndecent(index))
    .flatMap((image: unknown) => (isObject(image) ? [wordOf(image["url"])] : []))
    .filter((link) => link !== "");
  if (links.length > 0) return links;
  if (images.some((_, index) => isIndecent(index)))
    throw errors.raise("refused", { code: "has_nsfw_concepts", message: "" }, 200);
  throw brokenResponse("gave no image");
}
