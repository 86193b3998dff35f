import type { UpstreamError, UpstreamErrorKind } from "../domain/upstream-error.ts";
import { isObject, textOf, ownValue } from "../lib/json.ts";
import {
  createHostedUpstream,
  hostedSettings,
  type HostedSettings,
  type ModelInputs,
  type WriteInputs,
} from "./images/hosted-models.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import type { Provider } from "./provider.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse, send, type Classify, type VendorRequest } from "./transport/http.ts";
import { writeJsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { joinModels, readModels } from "./transport/model-list.ts";
import { probeByRefusal } from "./transport/probe.ts";
import { readJobId, RUNNING, type VendorJobStatus, type VendorJob } from "./transport/polling.ts";
import { readDetail, type FailureReading, type VendorErrors } from "./transport/vendor-errors.ts";

const QUEUE = "https://queue.fal.run";
/** Address of the list of models (fal platform API, "Model search"). */
const PLATFORM = "https://api.fal.ai";
const CATEGORIES = ["text-to-image", "image-to-image"] as const;

/** The queue of fal. A job is submitted and polled until it has completed; another call fetches the job's result. */
export const fal: Provider<HostedSettings> = {
  name: "fal",
  title: "fal",
  documentation: "An API key of fal.ai.",
  probe: (settings, signal) => {
    const { baseUrl, headers, errors } = connectionOf(settings);
    const url = `${baseUrl}/fal-ai/flux/requests/${UNKNOWN_REQUEST}/status`;
    return probeByRefusal(() => callJson("GET", { url, headers, signal }, errors.classify));
  },
  async models(settings, signal) {
    const { baseUrl, headers, errors } = connectionOf(settings);
    const lists = CATEGORIES.map((category) => {
      const url = `${baseUrl.replace(QUEUE, PLATFORM)}/v1/models?category=${category}&status=active&limit=100`;
      return readModels({ url, headers, signal }, errors.classify, {
        nameOf: ({ endpoint_id }) => endpoint_id,
        next: { member: "next_cursor", parameter: "cursor" },
      });
    });
    return joinModels(await Promise.all(lists));
  },
  settings: hostedSettings(QUEUE),
  image(settings, codecSlots) {
    const connection = connectionOf(settings);
    return createHostedUpstream(settings, {
      codecSlots,
      rules: REFERENCE_RULES,
      defaultInputs: DEFAULT_INPUTS,
      fetchResult: connection.fetchResult,
      describeJob: (model, write) => describeJob(model, write, connection),
    });
  },
};

/** A request id that does not exist. With a valid key, the vendor reports an unknown id (fal queue reference). */
const UNKNOWN_REQUEST = "00000000-0000-4000-8000-000000000000";

function connectionOf(settings: HostedSettings): VendorConnection {
  return createConnection(settings, readFailure, { authorization: `Key ${settings.apiKey}` });
}

/** The inputs of most models. */
const DEFAULT_INPUTS: ModelInputs = {
  references: "image_urls[]",
  size: "image_size",
  count: "num_images",
  formats: { png: "png", jpeg: "jpeg" },
};
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 10 * 1024 * 1024 };

/** Error kinds by the type of a problem, for types that say more than the status (fal error reference). */
const KIND_BY_TYPE: Readonly<Record<string, UpstreamErrorKind>> = {
  content_policy_violation: "refused",
  no_media_generated: "broken",
  downstream_service_error: "overloaded",
  downstream_service_unavailable: "overloaded",
  internal_server_error: "overloaded",
  generation_timeout: "overloaded",
};

/** Matches the sentence that means an account without balance. The status is 403, without an error code. */
const LOCKED_ACCOUNT = /^User is locked\b/;

function readFailure(body: Record<string, unknown>): FailureReading {
  const reading = readDetail(body);
  if (LOCKED_ACCOUNT.test(reading.message)) return { ...reading, kind: "account" };
  const kind = ownValue(KIND_BY_TYPE, reading.code);
  return { ...reading, kind };
}

function describeJob(
  model: string,
  write: WriteInputs,
  { baseUrl, headers, errors }: VendorConnection,
): VendorJob<string[]> {
  // The path of a job contains only owner and application, without the rest of the model's path.
  const [owner, application] = model.split("/");
  const requests = `${baseUrl}/${owner}/${application}/requests`;
  return {
    async submit(signal) {
      const call = { url: `${baseUrl}/${model}`, headers, body: writeJsonBody(write), signal };
      const { request_id: id } = await callJson("POST", call, errors.classify);
      return { jobId: readJobId(id), jobStatus: RUNNING };
    },
    async poll(jobId, signal) {
      const call = { url: `${requests}/${jobId}/status`, headers, signal };
      const { status } = await callJson("GET", call, errors.classify);
      if (status !== "COMPLETED") return RUNNING;
      return await fetchOutcome({ url: `${requests}/${jobId}`, headers, signal }, errors);
    },
    cancel: (jobId, signal) =>
      send("PUT", { url: `${requests}/${jobId}/cancel`, headers, signal }, errors.classify),
  };
}

/** Fetches the outcome. For a failed job, the vendor sends the job's error in place of the result. */
async function fetchOutcome(
  call: Omit<VendorRequest, "body">,
  errors: VendorErrors,
): Promise<VendorJobStatus<string[]>> {
  let failure: UpstreamError | undefined;
  const classify: Classify = (response, bodyText) => {
    const error = errors.classify(response, bodyText);
    if (isJobFailure(bodyText, error)) failure = error;
    return error;
  };
  try {
    return readResult(await callJson("GET", call, classify), errors);
  } catch (error) {
    if (failure) return { state: "failed", error: failure };
    throw error;
  }
}

/**
 * True for a failed job: its body lists problems or has an `error_type`, or its kind is `rejected`. Errors of the queue
 * itself have only a sentence (fal error reference, request errors).
 */
function isJobFailure(bodyText: string, { kind }: UpstreamError): boolean {
  return kind === "rejected" || /"(?:detail"\s{0,9}:\s{0,9}\[|error_type"\s{0,9}:)/.test(bodyText);
}

/**
 * Reads a result. The vendor replaces an indecent picture by a black picture, and marks it in a parallel list. A marked
 * picture counts as not delivered.
 */
function readResult(result: Record<string, unknown>, errors: VendorErrors): VendorJobStatus<string[]> {
  const { image, has_nsfw_concepts: indecent } = result;
  // Models that make only one picture return it without a list (fal model pages, output schemas).
  const images = image === undefined ? result["images"] : [image];
  if (!Array.isArray(images)) return { state: "failed", error: brokenResponse("gave no list of images") };
  const isIndecent = (index: number) => Array.isArray(indecent) && indecent[index] === true;
  const links = images
    .filter((_, index) => !isIndecent(index))
    .flatMap((each: unknown) => (isObject(each) ? [textOf(each["url"])] : []))
    .filter((link) => link !== "");
  if (links.length > 0) return { state: "done", result: links };
  const error = images.some((_, index) => isIndecent(index))
    ? errors.raise("refused", { code: "has_nsfw_concepts", message: "" }, 200)
    : brokenResponse("gave no image");
  return { state: "failed", error };
}
