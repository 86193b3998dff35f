import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { fanOutSetting, headerWord, httpAddress, pollIntervalMs } from "./transport/channel-settings.ts";
import { connect } from "./transport/connection.ts";
import { brokenResponse, send } from "./transport/http.ts";
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
  wordOf,
  type FailureReading,
  type VendorErrors,
} from "./transport/vendor-errors.ts";

const settings = z.object({
  /** Address in front of `/models/…` and `/predictions`. */
  baseUrl: httpAddress.default("https://api.replicate.com/v1"),
  apiKey: headerWord,
  fanOut: fanOutSetting,
  pollIntervalMs,
  models: modelsSetting,
});

export type ReplicateSettings = z.infer<typeof settings>;

/**
 * Predictions of Replicate: the vendor is asked to wait a little with its answer, and looked at after that. An
 * upstream model is `owner/name`, or a version's id alone.
 */
export const replicate: Provider<ReplicateSettings> = {
  name: "replicate",
  settings,
  image(settings) {
    const vendor = open(settings);
    const inputsOf = ({ upstreamModel }: ImageOrder) => settings.models[upstreamModel] ?? DEFAULT_INPUTS;
    return createImageUpstream({
      rules: REFERENCE_RULES,
      fansOut: (order) => settings.fanOut && inputsOf(order).count === undefined,
      async generate(order, signal) {
        const job = describeJob(order, inputsOf(order), vendor);
        const links = await runJob(job, settings.pollIntervalMs, signal);
        return { images: await fetchEach(links, vendor.fetchResult, order.spool, signal) };
      },
    });
  },
};

type Vendor = ReturnType<typeof open>;

/** For models the settings do not name. */
const DEFAULT_INPUTS: ModelInputs = { references: "input_images[]", size: "aspect_ratio" };
/** The vendor's own client sends no larger file inside of a request. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 7_000_000 };
/** Quick models are done within the wait; no job outlives the gateway by more than the other. */
const SUBMIT_HEADERS = { prefer: "wait=5", "cancel-after": "15m" };

function open(settings: ReplicateSettings) {
  const connection = connect(settings);
  return { ...connection, errors: createVendorErrors(connection, readFailure) };
}

/** When to come back is told in a sentence only (Replicate HTTP reference, rate limits). */
function readFailure({ title, detail }: Record<string, unknown>): FailureReading {
  const message = wordOf(detail);
  const seconds = /\bresets in ~?(\d{1,4})s\b/.exec(message)?.[1];
  const retryAfterSeconds = seconds === undefined ? undefined : Number(seconds);
  return { code: wordOf(title), message, retryAfterSeconds: retryAfterSeconds };
}

function describeJob(
  order: ImageOrder,
  inputs: ModelInputs,
  { baseUrl, headers, errors }: Vendor,
): VendorJob<string, string[]> {
  const model = modelFor(order, inputs);
  const isVersion = !model.includes("/");
  const url = isVersion ? `${baseUrl}/predictions` : `${baseUrl}/models/${model}/predictions`;
  return {
    async submit(signal) {
      const body = writeJsonBody((base64) => ({
        ...(isVersion && { version: model }),
        input: writeInputs(order, inputs, base64),
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

function readStatus(prediction: Record<string, unknown>, errors: VendorErrors): JobStatus<string[]> {
  switch (prediction["status"]) {
    case "succeeded":
      return readOutput(prediction["output"]);
    case "failed": {
      const message = wordOf(prediction["error"]);
      const code = /\((E\d{3,4})\)/.exec(message)?.[1] ?? "";
      return { state: "failed", error: errors.raise(kindOf(code, message), { code, message }, 200) };
    }
    case "canceled":
    case "aborted": {
      const reading = { code: wordOf(prediction["status"]), message: "" };
      return { state: "failed", error: errors.raise("overloaded", reading, 200) };
    }
    default:
      return RUNNING;
  }
}

function readOutput(output: unknown): JobStatus<string[]> {
  const all: unknown[] = Array.isArray(output) ? output : [output];
  const links = all.filter((link): link is string => typeof link === "string" && link !== "");
  if (links.length > 0) return { state: "done", result: links };
  return { state: "failed", error: brokenResponse("succeeded without a picture") };
}

/** A failed prediction says why in words of the model alone, at best with a code in brackets. */
function kindOf(code: string, message: string): UpstreamErrorKind {
  if (code === "E005" || /\bNSFW\b/i.test(message)) return "refused";
  return code === "E006" ? "rejected" : "overloaded";
}
