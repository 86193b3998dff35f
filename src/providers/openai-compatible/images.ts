import type { ImageOrder, ImageReply, ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import type { FairSemaphore } from "../../lib/semaphore.ts";
import { isObject } from "../../lib/json.ts";
import { readImageList } from "../images/image-list.ts";
import { createImageUpstream } from "../images/image-upstream.ts";
import { readImageUsage } from "../images/image-usage.ts";
import { wantedFormat, wantedQuality, wantedSize } from "../images/wanted-image.ts";
import { brokenResponse, requestIdOf, send, type VendorRequest } from "../transport/http.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";
import { writeForm, type FormPart } from "./form.ts";

/** OpenAI's images protocol: generations are sent as JSON, edits as a form. Pictures return as base64 or links. */
export function createOpenAiImages(connection: OpenAiConnection, codecSlots: FairSemaphore): ImageUpstream {
  return createImageUpstream({
    codecSlots,
    rules: connection.imageLimits.references,
    takesMasks: true,
    generate: (order, signal) => generate(order, connection, signal),
  });
}

async function generate(
  order: ImageOrder,
  connection: OpenAiConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const { errors, fetchResult } = connection;
  const write = order.references.length > 0 ? writeEdit : writeGeneration;
  const response = await send("POST", { ...write(order, connection), signal }, errors.classify);
  const { parsed, items, pictures } = await readImageList(response, order.spool, signal);
  if (hasError(parsed)) throw errors.classify(response, JSON.stringify(parsed));
  if (!items) throw brokenResponse("gave no list of images");
  const images = await pictures(items, fetchResult);
  if (images.length === 0) throw brokenResponse("gave no image");
  return {
    images,
    requestId: requestIdOf(response),
    quality: textOrUndefined(parsed["quality"]),
    background: textOrUndefined(parsed["background"]),
    usage: readUsage(parsed),
    isCompressed: makesFormat(order, connection),
  };
}

/** True when the vendor can return the caller's format. */
function makesFormat(order: ImageOrder, { imageLimits }: OpenAiConnection): boolean {
  return order.format !== undefined && chooseFormat(order, imageLimits.formats) === order.format;
}

type UnsentRequest = Omit<VendorRequest, "signal">;

/** Writes a request's fields, without `response_format`: the vendor refuses unknown fields (OpenAI image reference). */
function writeFields(order: ImageOrder, { imageLimits }: OpenAiConnection): Record<string, string | number> {
  const { width, height } = wantedSize(order);
  const format = chooseFormat(order, imageLimits.formats);
  const fields: Record<string, string | number> = {
    model: order.upstreamModel,
    prompt: order.prompt,
    n: Math.min(order.count, order.model.image.maxImagesPerCall),
  };
  // The vendor chooses the values of absent fields. `auto` is not sent as size or quality, because some compatible
  // vendors do not know it.
  if (!order.size.isAuto) fields["size"] = `${width}x${height}`;
  const quality = wantedQuality(order);
  if (quality !== undefined) fields["quality"] = quality;
  if (order.background !== undefined) fields["background"] = order.background;
  if (format !== undefined) fields["output_format"] = format;
  if (order.compression !== undefined && format === order.format && format !== undefined && format !== "png")
    fields["output_compression"] = order.compression;
  return fields;
}

/** Returns the format to request. Returns undefined when the caller set none, so that the vendor uses its default. */
function chooseFormat(order: ImageOrder, known: readonly ImageFormat[]): ImageFormat | undefined {
  if (order.format === undefined) return undefined;
  const { image } = order.model;
  const formats = image.formats.filter((format) => known.includes(format));
  return wantedFormat({ ...order, model: { ...order.model, image: { ...image, formats } } });
}

function writeGeneration(order: ImageOrder, connection: OpenAiConnection): UnsentRequest {
  return {
    url: connection.urlOf("images/generations", () => order.upstreamModel),
    headers: connection.jsonHeaders,
    body: JSON.stringify(writeFields(order, connection)),
  };
}

function writeEdit(order: ImageOrder, connection: OpenAiConnection): UnsentRequest {
  const fields = Object.entries(writeFields(order, connection));
  const name = order.references.length === 1 ? connection.singleFileField : "image[]";
  const parts: FormPart[] = [
    ...fields.map(([name, value]) => ({ name, text: String(value) })),
    ...order.references.map((reference, index) => writeFile(name, `image-${index + 1}`, reference)),
  ];
  if (order.mask) parts.push(writeFile("mask", "mask", order.mask));
  const form = writeForm(parts);
  return {
    url: connection.urlOf("images/edits", () => order.upstreamModel),
    headers: {
      ...connection.formHeaders,
      "content-type": form.contentType,
      "content-length": String(form.byteLength),
    },
    body: form.body,
  };
}

/** Writes a file with its name and type. The vendor refuses files without a type. */
function writeFile(name: string, stem: string, { blob, format }: ReferenceImage): FormPart {
  const extension = format === "jpeg" ? "jpg" : format;
  return { name, blob, fileName: `${stem}.${extension}`, type: `image/${format}` };
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Reads the usage. One report covers all images of the call. */
function readUsage({ usage }: Record<string, unknown>): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  return readImageUsage({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    inputDetails: detailsOf(usage["input_tokens_details"]),
    outputDetails: detailsOf(usage["output_tokens_details"]),
  });
}

function detailsOf(details: unknown): { text: unknown; image: unknown } | undefined {
  return isObject(details) ? { text: details["text_tokens"], image: details["image_tokens"] } : undefined;
}
