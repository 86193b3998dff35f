import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
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
import { brokenAnswer } from "./http.ts";
import { writeJsonBody, type JsonBody } from "./json-body.ts";
import { callJson, JSON_HEADERS } from "./json-call.ts";
import { RUNNING, runJob, type Sight, type VendorJob } from "./polling.ts";
import type { Provider } from "./provider.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";
import { createFetchResult, type FetchResult } from "./result-link.ts";
import { createVendorErrors, readDetail, wordOf, type VendorErrors } from "./vendor-errors.ts";
import { followsReference, refuseMask, wantedFormat, wantedSize } from "./wanted-image.ts";

const settings = z.object({
  /** Address in front of the models' own paths. */
  baseUrl: httpAddress.default("https://api.bfl.ai/v1"),
  apiKey: headerWord,
  fanOut: fanOutSetting,
  pollIntervalMs,
});

export type BflSettings = z.infer<typeof settings>;

/** Black Forest Labs: a request is handed in, looked at until it is ready, and its picture fetched by a link. */
export const bfl: Provider<BflSettings> = {
  name: "bfl",
  settings,
  image: (settings) => createImageUpstream(connect(settings)),
};

interface Connection extends BflSettings {
  headers: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], mostBytes: 20 * 1024 * 1024 };
/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;
/** Where the vendor's own addresses lie; it answers on one and has its jobs looked at on another. */
const VENDOR_HOST = /(^|\.)bfl\.ai$/;

function connect(settings: BflSettings): Connection {
  const baseUrl = withoutEndSlash(settings.baseUrl);
  const { apiKey } = settings;
  return {
    ...settings,
    baseUrl,
    headers: { ...JSON_HEADERS, "x-key": apiKey },
    errors: createVendorErrors({ apiKey, baseUrl }, readDetail),
    fetchResult: createFetchResult(baseUrl),
  };
}

function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  return {
    async draw(order, signal) {
      refuseMask(order);
      const references = await fitReferences(order.references, REFERENCE_RULES, slots, signal);
      const ready = { ...order, references };
      const drawOne = async (signal: AbortSignal) => {
        const link = await runJob(describeJob(ready, connection), connection.pollIntervalMs, signal);
        return { images: [await connection.fetchResult(link, order.spool, signal)] };
      };
      return await (connection.fanOut ? fanOut(order.count, drawOne, signal) : drawOne(signal));
    },
  };
}

/** The vendor has no call to cancel a job; one that nobody looks at ends by itself. */
function describeJob(order: ImageOrder, connection: Connection): VendorJob<string, string> {
  const { baseUrl, headers, errors } = connection;
  return {
    async submit(signal) {
      const url = `${baseUrl}/${order.upstreamModel}`;
      const call = { url, headers, body: writeRequest(order), signal };
      const { polling_url: ticket } = await callJson("POST", call, errors.classify);
      if (typeof ticket !== "string" || !isTrusted(ticket, baseUrl))
        throw brokenAnswer("named no address of its own to look at");
      return { ticket, sight: RUNNING };
    },
    async look(url, signal) {
      return readSight(await callJson("GET", { url, headers, signal }, errors.classify), errors);
    },
  };
}

/** The credential goes along with each look, so the address must be the vendor's or the very origin configured. */
function isTrusted(link: string, baseUrl: string): boolean {
  const url = URL.parse(link);
  const base = new URL(baseUrl);
  if (!url || url.username !== "" || url.password !== "") return false;
  if (url.origin === base.origin) return true;
  const isVendors = VENDOR_HOST.test(url.hostname) && VENDOR_HOST.test(base.hostname);
  return isVendors && url.protocol === "https:" && url.port === "";
}

/** Models whose size is free take pixels, the others a ratio (BFL API reference). */
function writeRequest(order: ImageOrder): JsonBody {
  const { prompt, references } = order;
  const format = wantedFormat(order);
  return writeJsonBody((base64) => ({
    prompt,
    ...Object.fromEntries(
      references.map(({ blob }, index) => [
        index === 0 ? "input_image" : `input_image_${index + 1}`,
        base64(blob),
      ]),
    ),
    ...writeSize(order),
    ...(format && { output_format: format }),
  }));
}

function writeSize(order: ImageOrder): object {
  const { width, height, ratio } = wantedSize(order);
  if (order.model.image.sizeMode === "pixels") return { width, height };
  return followsReference(order) ? {} : { aspect_ratio: ratio };
}

/** An unknown word is taken for one more way to be busy. */
function readSight(body: Record<string, unknown>, errors: VendorErrors): Sight<string> {
  const status = wordOf(body["status"]);
  const failed = (kind: "refused" | "overloaded"): Sight<string> => ({
    state: "failed",
    error: errors.raise(kind, { code: status, message: "" }, 200),
  });
  switch (status) {
    case "Ready":
      return readResult(body["result"]);
    case "Request Moderated":
    case "Content Moderated":
      return failed("refused");
    case "Error":
    case "Failed":
      return failed("overloaded");
    case "Task not found":
      return { state: "failed", error: brokenAnswer("does not know the job it was given") };
    default:
      return RUNNING;
  }
}

function readResult(result: unknown): Sight<string> {
  const link = isObject(result) ? result["sample"] : undefined;
  if (typeof link === "string" && link !== "") return { state: "done", result: link };
  return { state: "failed", error: brokenAnswer("was ready without a picture") };
}
