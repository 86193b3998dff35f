import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import { readVendorCost, type VendorCost } from "../domain/usage.ts";
import { isObject, textOf } from "../lib/json.ts";
import { createImageUpstream } from "./images/image-upstream.ts";
import type { ReferenceRules } from "./images/reference-image.ts";
import { followsReference, wantedFormat, wantedSize } from "./images/wanted-image.ts";
import type { Provider } from "./provider.ts";
import {
  fanOutSetting,
  headerValue,
  httpAddress,
  pollIntervalSetting,
} from "./transport/channel-settings.ts";
import { createConnection, type VendorConnection } from "./transport/connection.ts";
import { brokenResponse } from "./transport/http.ts";
import { writeJsonBody, type JsonBody } from "./transport/json-body.ts";
import { callJson } from "./transport/json-call.ts";
import { probeByReading } from "./transport/probe.ts";
import { RUNNING, runJob, type VendorJobStatus, type VendorJob } from "./transport/polling.ts";
import { readDetail, type FailureReading, type VendorErrors } from "./transport/vendor-errors.ts";

const settings = z.object({
  baseUrl: httpAddress.default("https://api.bfl.ai/v1").describe("Base address before the models' own paths"),
  apiKey: headerValue,
  fanOut: fanOutSetting,
  pollIntervalMs: pollIntervalSetting,
});

type BflSettings = z.infer<typeof settings>;

/** Black Forest Labs. A job is submitted and polled until it is ready; then its picture is fetched by a link. */
export const bfl: Provider<BflSettings> = {
  name: "bfl",
  title: "Black Forest Labs",
  documentation: "An API key of bfl.ai.",
  settings,
  probe: (settings, signal) => {
    const { baseUrl, headers, errors } = connectionOf(settings);
    return probeByReading({ url: `${baseUrl}/credits`, headers, signal }, errors.classify);
  },
  image(settings, codecSlots) {
    const connection = connectionOf(settings);
    return createImageUpstream({
      codecSlots,
      rules: REFERENCE_RULES,
      fansOut: () => settings.fanOut,
      async generate(order, signal) {
        const polling = { intervalMs: settings.pollIntervalMs, record: order.vendorJobs?.(0) };
        let vendorCost: VendorCost | undefined;
        const job = describeJob(order, connection, (cost) => (vendorCost = cost));
        const link = await runJob(job, polling, signal);
        const images = [await connection.fetchResult(link, order.spool, signal)];
        return { images, ...(vendorCost && { vendorCost }) };
      },
    });
  },
};

function connectionOf(settings: BflSettings): VendorConnection {
  return createConnection(settings, readFailure, { "x-key": settings.apiKey });
}

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], maxBytes: 20 * 1024 * 1024 };
/** Matches hosts of the vendor. Jobs are submitted to one host and polled on another. */
const VENDOR_HOST = /(^|\.)bfl\.ai$/;

/** Matches the sentence that means an invalid key. The status is 403, and the vendor sends no error code. */
const INVALID_KEY = /^Not authenticated\b/;

function readFailure(body: Record<string, unknown>): FailureReading {
  const reading = readDetail(body);
  return INVALID_KEY.test(reading.message) ? { ...reading, kind: "account" } : reading;
}

/** Number of credits that one US dollar buys (BFL, "Pricing"). */
const CREDITS = 100;

/**
 * Describes a job, which cannot be cancelled. `onCost` receives the cost, which the vendor reports only at the
 * submission. A process that takes over another process's job therefore does not receive the cost.
 */
function describeJob(
  order: ImageOrder,
  { baseUrl, headers, errors }: VendorConnection,
  onCost: (cost: VendorCost | undefined) => void,
): VendorJob<string> {
  return {
    async submit(signal) {
      const url = `${baseUrl}/${order.upstreamModel}`;
      const call = { url, headers, body: writeRequest(order), signal };
      const { polling_url: jobId, cost } = await callJson("POST", call, errors.classify);
      onCost(readVendorCost(cost, CREDITS));
      return { jobId: requireTrusted(jobId, baseUrl), jobStatus: RUNNING };
    },
    async poll(jobId, signal) {
      // The polling address is checked again, because the channel's address may have changed since the submission.
      const url = requireTrusted(jobId, baseUrl);
      return readStatus(await callJson("GET", { url, headers, signal }, errors.classify), errors);
    },
  };
}

function requireTrusted(link: unknown, baseUrl: string): string {
  if (typeof link === "string" && isTrusted(link, baseUrl)) return link;
  throw brokenResponse("named no polling address of its own");
}

/**
 * True for the configured origin. If that origin is the vendor's, also true for the vendor's other hosts. No other host
 * may get the key.
 */
function isTrusted(link: string, baseUrl: string): boolean {
  const url = URL.parse(link);
  const base = new URL(baseUrl);
  if (!url || url.username !== "" || url.password !== "") return false;
  if (url.origin === base.origin) return true;
  const isVendors = VENDOR_HOST.test(url.hostname) && VENDOR_HOST.test(base.hostname);
  return isVendors && url.protocol === "https:" && url.port === "";
}

/**
 * Writes a request. Models with free sizes get pixels. Other models get a ratio, or no size if the picture follows its
 * reference (BFL API reference).
 */
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

/** Reads a status. An unknown status counts as running. */
function readStatus(body: Record<string, unknown>, errors: VendorErrors): VendorJobStatus<string> {
  const status = textOf(body["status"]);
  const failed = (kind: "refused" | "overloaded"): VendorJobStatus<string> => ({
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
      return { state: "failed", error: brokenResponse("does not know its own job") };
    default:
      return RUNNING;
  }
}

function readResult(result: unknown): VendorJobStatus<string> {
  const link = isObject(result) ? result["sample"] : undefined;
  if (typeof link === "string" && link !== "") return { state: "done", result: link };
  return { state: "failed", error: brokenResponse("was ready without a picture") };
}
