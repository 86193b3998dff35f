import type { ImageOrder, ImageReply, ReferenceImage } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { saneCount } from "../../domain/usage.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import { isObject } from "../../lib/json.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { brokenResponse, parseResponse, post, type VendorRequest } from "../transport/http.ts";
import { fitReferences } from "../images/reference-image.ts";
import type { Connection } from "./connection.ts";
import { hasError } from "./errors.ts";
import { writeForm, type FormPart } from "./form.ts";
import { extractImages, type ExtractedJson } from "../transport/extracted-json.ts";
import { wantedFormat, wantedSize } from "../images/wanted-image.ts";

/** References of one channel that are encoded anew at once. */
const CODEC_SLOTS = 2;

/** The images protocol of family A: generations in JSON, edits as a form, pictures back as base64. */
export function createImageUpstream(connection: Connection): ImageUpstream {
  const slots = createSemaphore(CODEC_SLOTS);
  return {
    async generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply> {
      const rules = connection.imageLimits.references;
      const references = await fitReferences(order.references, rules, slots, signal);
      const write = references.length > 0 ? writeEdit : writeGeneration;
      const request = write({ ...order, references }, connection);
      const response = await post({ ...request, signal }, connection.classify);
      const { json, skeleton } = await extractImages(response, order.spool, signal);
      const parsed = parseResponse(skeleton);
      const { status, headers } = response;
      if (hasError(parsed)) throw connection.classify({ status, headers, bodyText: skeleton });
      return { ...readReply(parsed, json), isCompressed: isAsked(order, connection) };
    },
  };
}

/** Whether the vendor makes the very format that the caller wants. */
function isAsked(order: ImageOrder, { imageLimits }: Connection): boolean {
  return order.format !== undefined && chooseFormat(order, imageLimits.formats) === order.format;
}

type UnsentRequest = Omit<VendorRequest, "signal">;

/** Only what the vendor knows: `response_format`, for one, is refused by it (OpenAI image reference). */
function writeFields(order: ImageOrder, { imageLimits }: Connection): Record<string, string | number> {
  const { width, height } = wantedSize(order);
  const format = chooseFormat(order, imageLimits.formats);
  const fields: Record<string, string | number> = {
    model: order.upstreamModel,
    prompt: order.prompt,
    n: Math.min(order.count, order.model.image.maxImagesPerCall),
    size: order.size.isAuto ? "auto" : `${width}x${height}`,
  };
  if (order.quality !== undefined) fields["quality"] = order.quality;
  if (order.background !== undefined) fields["background"] = order.background;
  if (format !== undefined) fields["output_format"] = format;
  if (order.compression !== undefined && format === order.format && format !== undefined && format !== "png")
    fields["output_compression"] = order.compression;
  return fields;
}

/** Nothing is said of the format where the caller said nothing. */
function chooseFormat(order: ImageOrder, known: readonly ImageFormat[]): ImageFormat | undefined {
  if (order.format === undefined) return undefined;
  const { image } = order.model;
  const formats = image.formats.filter((format) => known.includes(format));
  return wantedFormat({ ...order, model: { ...order.model, image: { ...image, formats } } });
}

function writeGeneration(order: ImageOrder, connection: Connection): UnsentRequest {
  return {
    url: connection.urlOf("images/generations", () => order.upstreamModel),
    headers: connection.jsonHeaders,
    body: JSON.stringify(writeFields(order, connection)),
  };
}

function writeEdit(order: ImageOrder, connection: Connection): UnsentRequest {
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

/** The vendor tells files by their name and type, and refuses untyped ones. */
function writeFile(name: string, stem: string, { blob, format }: ReferenceImage): FormPart {
  const extension = format === "jpeg" ? "jpg" : format;
  return { name, blob, fileName: `${stem}.${extension}`, type: `image/${format}` };
}

function readReply(parsed: unknown, json: ExtractedJson): ImageReply {
  const data = isObject(parsed) ? parsed["data"] : undefined;
  if (!isObject(parsed) || !Array.isArray(data)) throw brokenResponse("gave no list of images");
  const images = data.flatMap((item: unknown) => {
    const image = isObject(item) ? readImage(item["b64_json"], json) : undefined;
    return image ? [image] : [];
  });
  if (images.length === 0) throw brokenResponse("gave no image");
  return {
    images,
    quality: textOf(parsed["quality"]),
    background: textOf(parsed["background"]),
    usage: readUsage(parsed["usage"]),
  };
}

function readImage(text: unknown, json: ExtractedJson): Blob | undefined {
  if (typeof text !== "string" || text === "") return undefined;
  const extracted = json.extracted(text);
  if (extracted) return extracted;
  const bytes = decodeBase64(text);
  if (!bytes) throw brokenResponse("gave an image that is no base64");
  return new Blob([new Uint8Array(bytes)]);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** One report stands for all images of the call; impossible numbers count as no report. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const input = saneCount(usage["input_tokens"]);
  const output = saneCount(usage["output_tokens"]);
  if (input === null || output === null) return undefined;
  return { input, output, total: saneCount(usage["total_tokens"]) ?? input + output };
}
