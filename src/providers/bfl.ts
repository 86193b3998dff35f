import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import { isObject } from "../lib/json.ts";
import { fanOutSetting, headerWord, httpAddress, pollIntervalMs } from "./transport/channel-settings.ts";
import { connect } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { createImageUpstream } from "./images/image-upstream.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { RUNNING, runJob, type JobStatus, type VendorJob } from "./transport/polling.ts";
import type { Provider } from "./provider.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { createVendorErrors, readDetail, wordOf, type VendorErrors } from "./transport/vendor-errors.ts";
import { followsReference, wantedFormat, wantedSize } from "./images/wanted-image.ts";

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
  image(settings) {
    const vendor = open(settings);
    return createImageUpstream({
      rules: REFERENCE_RULES,
      fansOut: () => settings.fanOut,
      async generate(order, signal) {
        const link = await runJob(describeJob(order, vendor), settings.pollIntervalMs, signal);
        return { images: [await vendor.fetchResult(link, order.spool, signal)] };
      },
    });
  },
};

type Vendor = ReturnType<typeof open>;

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], maxBytes: 20 * 1024 * 1024 };
/** Where the vendor's own addresses lie; it answers on one and has its jobs looked at on another. */
const VENDOR_HOST = /(^|\.)bfl\.ai$/;

function open(settings: BflSettings) {
  const connection = connect(settings, { "x-key": settings.apiKey });
  return { ...connection, errors: createVendorErrors(connection, readDetail) };
}

/** The vendor has no call to cancel a job; one that nobody looks at ends by itself. */
function describeJob(order: ImageOrder, { baseUrl, headers, errors }: Vendor): VendorJob<string, string> {
  return {
    async submit(signal) {
      const url = `${baseUrl}/${order.upstreamModel}`;
      const call = { url, headers, body: writeRequest(order), signal };
      const { polling_url: jobId } = await callJson("POST", call, errors.classify);
      if (typeof jobId !== "string" || !isTrusted(jobId, baseUrl))
        throw brokenResponse("named no address of its own to look at");
      return { jobId, jobStatus: RUNNING };
    },
    async poll(url, signal) {
      return readStatus(await callJson("GET", { url, headers, signal }, errors.classify), errors);
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
function readStatus(body: Record<string, unknown>, errors: VendorErrors): JobStatus<string> {
  const status = wordOf(body["status"]);
  const failed = (kind: "refused" | "overloaded"): JobStatus<string> => ({
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
      return { state: "failed", error: brokenResponse("does not know the job it was given") };
    default:
      return RUNNING;
  }
}

function readResult(result: unknown): JobStatus<string> {
  const link = isObject(result) ? result["sample"] : undefined;
  if (typeof link === "string" && link !== "") return { state: "done", result: link };
  return { state: "failed", error: brokenResponse("was ready without a picture") };
}
