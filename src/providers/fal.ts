import { z } from "zod";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { UpstreamError, UpstreamErrorKind } from "../domain/upstream-error.ts";
import type { ImageUpstream } from "../gateway/ports.ts";
import { isObject } from "../lib/json.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import {
  fanOutSetting,
  headerWord,
  httpAddress,
  pollIntervalMs,
  withoutEndSlash,
} from "./channel-settings.ts";
import { fanOut } from "./fan-out.ts";
import { brokenAnswer, send, type FailedAnswer } from "./http.ts";
import { writeJsonBody } from "./json-body.ts";
import { callJson, JSON_HEADERS } from "./json-call.ts";
import { modelsSetting, writeInputs, type ModelInputs } from "./model-inputs.ts";
import { RUNNING, runJob, type Sight, type VendorJob } from "./polling.ts";
import type { Provider } from "./provider.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";
import { createFetchResult, fetchEach, type FetchResult } from "./result-link.ts";
import {
  createVendorErrors,
  readDetail,
  wordOf,
  type FailureReading,
  type VendorErrors,
} from "./vendor-errors.ts";
import { refuseMask } from "./wanted-image.ts";

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
  image: (settings) => createImageUpstream(connect(settings)),
};

interface Connection extends FalSettings {
  headers: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

/** What most of its models take; the settings name what is different. */
const USUAL_INPUTS: ModelInputs = {
  references: "image_urls[]",
  size: "image_size",
  count: "num_images",
  formats: { png: "png", jpeg: "jpeg" },
};
const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], mostBytes: 10 * 1024 * 1024 };
/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;

/** Types of problems that say more than their status (fal error reference). */
const KIND_BY_TYPE: Readonly<Record<string, UpstreamErrorKind>> = {
  content_policy_violation: "refused",
  no_media_generated: "broken",
  downstream_service_error: "overloaded",
  downstream_service_unavailable: "overloaded",
  internal_server_error: "overloaded",
  generation_timeout: "overloaded",
};

function connect(settings: FalSettings): Connection {
  const baseUrl = withoutEndSlash(settings.baseUrl);
  const { apiKey } = settings;
  return {
    ...settings,
    baseUrl,
    headers: { ...JSON_HEADERS, authorization: `Key ${apiKey}` },
    errors: createVendorErrors({ apiKey, baseUrl }, readFailure),
    fetchResult: createFetchResult(baseUrl),
  };
}

function readFailure(body: Record<string, unknown>): FailureReading {
  const reading = readDetail(body);
  return Object.hasOwn(KIND_BY_TYPE, reading.code)
    ? { ...reading, kind: KIND_BY_TYPE[reading.code] }
    : reading;
}

function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  const { errors, fetchResult } = connection;
  return {
    async draw(order, signal) {
      refuseMask(order);
      const references = await fitReferences(order.references, REFERENCE_RULES, slots, signal);
      const inputs = connection.models[order.upstreamModel] ?? USUAL_INPUTS;
      const ready = { ...order, references };
      const drawOnce = async (signal: AbortSignal): Promise<ImageReply> => {
        const job = describeJob(ready, inputs, connection);
        const links = readLinks(await runJob(job, connection.pollIntervalMs, signal), errors);
        return { images: await fetchEach(links, fetchResult, order.spool, signal) };
      };
      const fansOut = connection.fanOut && inputs.count === undefined;
      return await (fansOut ? fanOut(order.count, drawOnce, signal) : drawOnce(signal));
    },
  };
}

type Result = Record<string, unknown>;

function describeJob(
  order: ImageOrder,
  inputs: ModelInputs,
  { baseUrl, headers, errors }: Connection,
): VendorJob<string, Result> {
  const model = order.references.length > 0 ? (inputs.edit ?? order.upstreamModel) : order.upstreamModel;
  // Jobs are found under owner and application only, whatever path of it made them.
  const [owner, application] = model.split("/");
  const requests = `${baseUrl}/${owner}/${application}/requests`;
  return {
    async submit(signal) {
      const body = writeJsonBody((base64) => writeInputs(order, inputs, base64));
      const call = { url: `${baseUrl}/${model}`, headers, body, signal };
      const { request_id: ticket } = await callJson("POST", call, errors.classify);
      if (typeof ticket !== "string" || !/^[\w-]{1,100}$/.test(ticket))
        throw brokenAnswer("named no job to look at");
      return { ticket, sight: RUNNING };
    },
    async look(ticket, signal) {
      const call = { url: `${requests}/${ticket}/status`, headers, signal };
      const { status } = await callJson("GET", call, errors.classify);
      if (status !== "COMPLETED") return RUNNING;
      return await readResult({ url: `${requests}/${ticket}`, headers, signal }, errors);
    },
    cancel: (ticket, signal) =>
      send("PUT", { url: `${requests}/${ticket}/cancel`, headers, signal }, errors.classify),
  };
}

/** A job that failed tells so in place of its result, with a status of its own and a list of problems. */
async function readResult(
  call: { url: string; headers: Readonly<Record<string, string>>; signal: AbortSignal },
  errors: VendorErrors,
): Promise<Sight<Result>> {
  let failure: UpstreamError | undefined;
  const classify = (answer: FailedAnswer): UpstreamError => {
    const error = errors.classify(answer);
    if (isJobsOwn(answer, error)) failure = error;
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
function isJobsOwn({ bodyText }: FailedAnswer, { kind }: UpstreamError): boolean {
  return kind === "rejected" || /"detail"\s*:\s*\[/.test(bodyText);
}

/** A picture that was found indecent comes black and is named in a list beside it; it counts as not delivered. */
function readLinks({ images, has_nsfw_concepts: indecent }: Result, errors: VendorErrors): string[] {
  if (!Array.isArray(images)) throw brokenAnswer("gave no list of images");
  const isIndecent = (index: number) => Array.isArray(indecent) && indecent[index] === true;
  const links = images
    .filter((_, index) => !isIndecent(index))
    .flatMap((image: unknown) => (isObject(image) ? [wordOf(image["url"])] : []))
    .filter((link) => link !== "");
  if (links.length > 0) return links;
  if (images.some((_, index) => isIndecent(index)))
    throw errors.raise("refused", { code: "has_nsfw_concepts", message: "" }, 200);
  throw brokenAnswer("gave no image");
}
