import { z } from "zod";
import type { ImageOrder } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import type { FairSemaphore } from "../../lib/semaphore.ts";
import {
  fanOutSetting,
  headerValue,
  httpAddress,
  pollIntervalSetting,
} from "../transport/channel-settings.ts";
import { runJob, type VendorJob } from "../transport/polling.ts";
import { fetchEach, type FetchResult } from "../transport/result-link.ts";
import { createImageUpstream } from "./image-upstream.ts";
import type { ReferenceRules } from "./reference-image.ts";
import { billedQuality, followsReference, wantedFormat, wantedSize } from "./wanted-image.ts";
import { countText } from "../../lib/count-text.ts";
import { inputError } from "../../domain/schema-problems.ts";

/** Images of a vendor that hosts models of many makers, each with its own inputs. A job returns links to images. */
export function createHostedUpstream(settings: HostedSettings, vendor: HostedVendor): ImageUpstream {
  const inputsOf = ({ upstreamModel }: ImageOrder) => settings.models[upstreamModel] ?? vendor.defaultInputs;
  return createImageUpstream({
    codecSlots: vendor.codecSlots,
    rules: vendor.rules,
    fansOut: (order) => settings.fanOut && inputsOf(order).count === undefined,
    async generate(order, signal) {
      const inputs = inputsOf(order);
      refuseSurplus(order, inputs);
      const model = order.references.length > 0 ? (inputs.edit ?? order.upstreamModel) : order.upstreamModel;
      const job = vendor.describeJob(model, (base64) => writeInputs(order, inputs, base64));
      const polling = { intervalMs: settings.pollIntervalMs, record: order.vendorJobs?.(0) };
      const links = await runJob(job, polling, signal);
      const images = await fetchEach(links, vendor.fetchResult, order.spool, signal);
      const quality = inputs.quality && billedQuality(order);
      return { images, ...(quality && { quality }) };
    },
  });
}

interface HostedVendor {
  codecSlots: FairSemaphore;
  rules: ReferenceRules;
  /** Inputs of models that the settings do not describe. */
  defaultInputs: ModelInputs;
  fetchResult: FetchResult;
  /** Describes the job that runs `model`. `write` gets `base64` as in `writeJsonBody` and returns the inputs. */
  describeJob(model: string, write: WriteInputs): VendorJob<string[]>;
}

export type WriteInputs = (base64: (blob: Blob) => string) => Record<string, unknown>;

const field = z.string().regex(/^[a-z_]+(\[\])?$/, { error: inputError("input.vendorField", {}) });

/** The inputs of one model. A channel's settings list models by the vendor's names. */
const modelInputs = z.strictObject({
  edit: z.string().min(1).optional().describe("The vendor's name of the model for edits, if it differs"),
  references: field
    .optional()
    .describe("Field of the references; `name[]` gets a list, any other only the first one"),
  size: z
    .enum(["image_size", "width_height", "aspect_ratio"])
    .optional()
    .describe(
      "Fields of the size: `image_size: {width, height}`, or `width` and `height`, or `aspect_ratio`",
    ),
  follow: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Value of `aspect_ratio` for the shape of the first reference; without it the field is left out in that case",
    ),
  resolution: z
    .partialRecord(z.enum(["1K", "2K", "4K"]), z.string().min(1))
    .optional()
    .describe("Value of `resolution` for each tier; without it the field is left out"),
  count: field.optional().describe("Field of the number of images; a call makes one image without it"),
  quality: z
    .boolean()
    .optional()
    .describe("True to send the model's qualities as `quality`; otherwise the field is left out"),
  max_references: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Most references, for a vendor that accepts fewer than the model's record says and drops the others",
    ),
  formats: z
    .partialRecord(z.enum(["png", "jpeg", "webp"]), z.string().min(1))
    .optional()
    .describe("Value of `output_format` for each format; without it the field is left out"),
});

export type ModelInputs = z.infer<typeof modelInputs>;

/** Returns the schema of channel settings for a vendor of hosted models. `baseUrl` is the vendor's default address. */
export function hostedSettings(baseUrl: string) {
  return z.object({
    baseUrl: httpAddress.default(baseUrl),
    apiKey: headerValue,
    fanOut: fanOutSetting,
    pollIntervalMs: pollIntervalSetting,
    models: z.record(z.string().min(1), modelInputs).default({}),
  });
}

export type HostedSettings = z.infer<ReturnType<typeof hostedSettings>>;

/** Refuses an order with more references than the model accepts. Another target may accept more references. */
function refuseSurplus({ references }: ImageOrder, { max_references: most = Infinity }: ModelInputs): void {
  if (references.length <= most) return;
  throw new UpstreamError("rejected", "the vendor takes fewer references", {
    publicMessage: `This model takes at most ${countText(most, "reference image")} at present.`,
    param: "image",
    isUnsent: true,
  });
}

function writeInputs(
  order: ImageOrder,
  inputs: ModelInputs,
  base64: (blob: Blob) => string,
): Record<string, unknown> {
  const { resolution, count, formats, references } = inputs;
  const tierValue = resolution?.[order.size.tier];
  const format = wantedFormat(order);
  const formatValue = format && formats?.[format];
  const quality = billedQuality(order);
  return {
    prompt: order.prompt,
    ...(references !== undefined && writeReferences(order, references, base64)),
    ...writeSize(order, inputs),
    ...(tierValue !== undefined && { resolution: tierValue }),
    ...(inputs.quality && quality !== undefined && { quality }),
    ...(count !== undefined && { [count]: order.count }),
    ...(formatValue !== undefined && { output_format: formatValue }),
  };
}

function writeReferences(
  { references }: ImageOrder,
  name: string,
  base64: (blob: Blob) => string,
): Record<string, unknown> {
  if (references.length === 0) return {};
  const isList = name.endsWith("[]");
  const links = (isList ? references : references.slice(0, 1)).map(
    ({ blob, format }) => `data:image/${format};base64,${base64(blob)}`,
  );
  return isList ? { [name.slice(0, -2)]: links } : { [name]: links[0] };
}

function writeSize(order: ImageOrder, { size, follow }: ModelInputs): Record<string, unknown> {
  const { width, height, ratio } = wantedSize(order);
  switch (size) {
    case "image_size":
      return { image_size: { width, height } };
    case "width_height":
      return { width, height };
    case "aspect_ratio":
      if (!followsReference(order)) return { aspect_ratio: ratio };
      return follow === undefined ? {} : { aspect_ratio: follow };
    case undefined:
      return {};
  }
}
