import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import type { ImageUpstream } from "../gateway/ports.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import {
  fanOutSetting,
  headerWord,
  httpAddress,
  pollIntervalMs,
  withoutEndSlash,
} from "./channel-settings.ts";
import { fanOut } from "./fan-out.ts";
import { brokenAnswer, send } from "./http.ts";
import { writeJsonBody } from "./json-body.ts";
import { callJson, JSON_HEADERS } from "./json-call.ts";
import { modelsSetting, writeInputs, type ModelInputs } from "./model-inputs.ts";
import { RUNNING, runJob, type Sight, type VendorJob } from "./polling.ts";
import type { Provider } from "./provider.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";
import { createFetchResult, fetchEach, type FetchResult } from "./result-link.ts";
import { createVendorErrors, wordOf, type FailureReading, type VendorErrors } from "./vendor-errors.ts";
import { refuseMask } from "./wanted-image.ts";

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
  image: (settings) => createImageUpstream(connect(settings)),
};

interface Connection extends ReplicateSettings {
  headers: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

/** For models the settings do not name. */
const USUAL_INPUTS: ModelInputs = { references: "input_images[]", size: "aspect_ratio" };
/** The vendor's own client sends no larger file inside of a request. */
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], mostBytes: 7_000_000 };
/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;
/** Quick models are done within the wait; no job outlives the gateway by more than the other. */
const SUBMIT_HEADERS = { prefer: "wait=5", "cancel-after": "15m" };

function connect(settings: ReplicateSettings): Connection {
  const baseUrl = withoutEndSlash(settings.baseUrl);
  const { apiKey } = settings;
  return {
    ...settings,
    baseUrl,
    headers: { ...JSON_HEADERS, authorization: `Bearer ${apiKey}` },
    errors: createVendorErrors({ apiKey, baseUrl }, readFailure),
    fetchResult: createFetchResult(baseUrl),
  };
}

/** When to come back is told in a sentence only (Replicate HTTP reference, rate limits). */
function readFailure({ title, detail }: Record<string, unknown>): FailureReading {
  const message = wordOf(detail);
  const seconds = /\bresets in ~?(\d{1,4})s\b/.exec(message)?.[1];
  const hint = seconds === undefined ? undefined : Number(seconds);
  return { code: wordOf(title), message, retryAfterSeconds: hint };
}

function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  return {
    async draw(order, signal) {
      refuseMask(order);
      const references = await fitReferences(order.references, REFERENCE_RULES, slots, signal);
      const inputs = connection.models[order.upstreamModel] ?? USUAL_INPUTS;
      const ready = { ...order, references };
      const drawOnce = async (signal: AbortSignal): Promise<ImageReply> => {
        const job = describeJob(ready, inputs, connection);
        const links = await runJob(job, connection.pollIntervalMs, signal);
        return { images: await fetchEach(links, connection.fetchResult, order.spool, signal) };
      };
      const fansOut = connection.fanOut && inputs.count === undefined;
      return await (fansOut ? fanOut(order.count, drawOnce, signal) : drawOnce(signal));
    },
  };
}

function describeJob(
  order: ImageOrder,
  inputs: ModelInputs,
  { baseUrl, headers, errors }: Connection,
): VendorJob<string, string[]> {
  const model = order.references.length > 0 ? (inputs.edit ?? order.upstreamModel) : order.upstreamModel;
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
      const { id: ticket } = prediction;
      if (typeof ticket !== "string" || !/^[\w-]{1,100}$/.test(ticket))
        throw brokenAnswer("named no job to look at");
      return { ticket, sight: readSight(prediction, errors) };
    },
    async look(ticket, signal) {
      const call = { url: `${baseUrl}/predictions/${ticket}`, headers, signal };
      return readSight(await callJson("GET", call, errors.classify), errors);
    },
    cancel: (ticket, signal) =>
      send("POST", { url: `${baseUrl}/predictions/${ticket}/cancel`, headers, signal }, errors.classify),
  };
}

function readSight(prediction: Record<string, unknown>, errors: VendorErrors): Sight<string[]> {
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

function readOutput(output: unknown): Sight<string[]> {
  const all: unknown[] = Array.isArray(output) ? output : [output];
  const links = all.filter((link): link is string => typeof link === "string" && link !== "");
  if (links.length > 0) return { state: "done", result: links };
  return { state: "failed", error: brokenAnswer("succeeded without a picture") };
}

/** A failed prediction says why in words of the model alone, at best with a code in brackets. */
function kindOf(code: string, message: string): UpstreamErrorKind {
  if (code === "E005" || /\bNSFW\b/i.test(message)) return "refused";
  return code === "E006" ? "rejected" : "overloaded";
}
