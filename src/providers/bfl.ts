import { z } from "zod";
import type { ImageOrder } from "../domain/image.ts";
import { isObject } from "../lib/json.ts";
import { fanOutSetting, headerWord, httpAddress, pollIntervalMs } from "./channel-settings.ts";
import { connect } from "./connection.ts";
import { brokenAnswer } from "./http.ts";
import { createImageUpstream } from "./image-upstream.ts";
import { writeJsonBody, type JsonBody } from "./json-body.ts";
import { callJson } from "./json-call.ts";
import { RUNNING, runJob, type Sight, type VendorJob } from "./polling.ts";
import type { Provider } from "./provider.ts";
import type { ReferenceRules } from "./reference-image.ts";
import { createVendorErrors, readDetail, wordOf, type VendorErrors } from "./vendor-errors.ts";
import { followsReference, wantedFormat, wantedSize } from "./wanted-image.ts";

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
      async draw(order, signal) {
        const link = await runJob(describeJob(order, vendor), settings.pollIntervalMs, signal);
        return { images: [await vendor.fetchResult(link, order.spool, signal)] };
      },
    });
  },
};

type Vendor = ReturnType<typeof open>;

const REFERENCE_RULES: ReferenceRules = { formats: ["png", "jpeg"], mostBytes: 20 * 1024 * 1024 };
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
