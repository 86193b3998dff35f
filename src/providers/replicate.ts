import { textOf } from "../lib/json.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
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
import { brokenResponse, send } from "./transport/http.ts";
import { writeJsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { readModels } from "./transport/model-list.ts";
import { probeByReading } from "./transport/probe.ts";
import { readJobId, RUNNING, type VendorJobStatus, type VendorJob } from "./transport/polling.ts";
import { type FailureReading, type VendorErrors } from "./transport/vendor-errors.ts";

/**
 * Predictions of Replicate. The vendor delays its response for a few seconds, because the prediction may finish in that
 * time. After the response, the prediction is polled. An upstream model is `owner/name`, or only the id of a version.
 */
export const replicate: Provider<HostedSettings> = {
  name: "replicate",
  title: "Replicate",
  documentation: "An API token of replicate.com.",
  probe: (settings, signal) => {
    const { baseUrl, headers, errors } = createConnection(settings, readFailure);
    return probeByReading({ url: `${baseUrl}/account`, headers, signal }, errors.classify);
  },
  models: (settings, signal) => {
    const { baseUrl, headers, errors } = createConnection(settings, readFailure);
    return readModels({ url: `${baseUrl}/collections/${COLLECTION}`, headers, signal }, errors.classify, {
      nameOf: ({ owner, name }) => `${textOf(owner)}/${textOf(name)}`,
    });
  },
  settings: hostedSettings("https://api.replicate.com/v1"),
  image(settings, codecSlots) {
    const connection = createConnection(settings, readFailure);
    return createHostedUpstream(settings, {
      codecSlots,
      rules: REFERENCE_RULES,
      defaultInputs: DEFAULT_INPUTS,
      fetchResult: connection.fetchResult,
      describeJob: (model, write) => describeJob(model, write, connection),
    });
  },
};

/** The collection of image models (Replicate HTTP reference, `collections.get`). The full list has thousands more. */
const COLLECTION = "text-to-image";
const DEFAULT_INPUTS: ModelInputs = { references: "input_images[]", size: "aspect_ratio" };
/** Rules for references. The vendor's own client puts no larger file into a request. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 7_000_000 };
/** Headers of a submission. Fast models finish within the wait. `cancel-after` ends even jobs that nobody polls. */
const SUBMIT_HEADERS = { prefer: "wait=5", "cancel-after": "15m" };

/** Reads a failure. The retry delay of a rate limit is only in a sentence (Replicate HTTP reference, rate limits). */
function readFailure({ title, detail }: Record<string, unknown>): FailureReading {
  const message = textOf(detail);
  const seconds = /\bresets in ~?(\d{1,4})s\b/.exec(message)?.[1];
  const retryAfterSeconds = seconds === undefined ? undefined : Number(seconds);
  return { code: textOf(title), message, retryAfterSeconds };
}

function describeJob(
  model: string,
  write: WriteInputs,
  { baseUrl, headers, errors }: VendorConnection,
): VendorJob<string[]> {
  const isVersion = !model.includes("/");
  const url = isVersion ? `${baseUrl}/predictions` : `${baseUrl}/models/${model}/predictions`;
  return {
    async submit(signal) {
      const body = writeJsonBody((base64) => ({
        ...(isVersion && { version: model }),
        input: write(base64),
      }));
      const call = { url, headers: { ...headers, ...SUBMIT_HEADERS }, body, signal };
      const prediction = await callJson("POST", call, errors.classify);
      return { jobId: readJobId(prediction["id"]), jobStatus: readStatus(prediction, errors) };
    },
    async poll(jobId, signal) {
      const call = { url: `${baseUrl}/predictions/${jobId}`, headers, signal };
      return readStatus(await callJson("GET", call, errors.classify), errors);
    },
    cancel: (jobId, signal) =>
      send("POST", { url: `${baseUrl}/predictions/${jobId}/cancel`, headers, signal }, errors.classify),
  };
}

function readStatus(prediction: Record<string, unknown>, errors: VendorErrors): VendorJobStatus<string[]> {
  switch (prediction["status"]) {
    case "succeeded":
      return readOutput(prediction["output"]);
    case "failed": {
      const message = textOf(prediction["error"]);
      const code = /\((E\d{3,4})\)/.exec(message)?.[1] ?? "";
      return { state: "failed", error: errors.raise(kindOf(code, message), { code, message }, 200) };
    }
    case "canceled":
    case "aborted": {
      const reading = { code: textOf(prediction["status"]), message: "" };
      return { state: "failed", error: errors.raise("overloaded", reading, 200) };
    }
    default:
      return RUNNING;
  }
}

function readOutput(output: unknown): VendorJobStatus<string[]> {
  const all: unknown[] = Array.isArray(output) ? output : [output];
  const links = all.filter((link): link is string => typeof link === "string" && link !== "");
  if (links.length > 0) return { state: "done", result: links };
  return { state: "failed", error: brokenResponse("succeeded without a picture") };
}

/** Returns the kind of a failed prediction by the model's message. Some messages contain a code in parentheses. */
function kindOf(code: string, message: string): UpstreamErrorKind {
  if (code === "E005" || /\bNSFW\b/i.test(message)) return "refused";
  return code === "E006" ? "rejected" : "overloaded";
}
