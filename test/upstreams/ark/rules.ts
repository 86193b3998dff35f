import type { ReceivedRequest } from "../http-server.ts";
import { readInlineImage } from "../inline-image.ts";
import type { ArkModel } from "./models.table.ts";
import { invalid, unknownModel, type Refusal } from "./refusals.ts";

export interface ParsedRequest {
  modelName: string;
  prompt: string;
  width: number;
  height: number;
  format: "jpeg" | "png";
  /** Maximum of pictures in a group; 1 without a group. */
  max: number;
  references: number;
  isInline: boolean;
}

type Models = Readonly<Record<string, ArkModel>>;
type Values = Readonly<Record<string, unknown>>;
type Read<Wanted> = Wanted | { refusal: Refusal };

const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "image",
  "size",
  "response_format",
  "watermark",
  "output_format",
  "sequential_image_generation",
  "sequential_image_generation_options",
  "stream",
  "optimize_prompt_options",
]);
const MAX_REFERENCE_BYTES = 30_000_000;
const MAX_REFERENCE_PIXELS = 36_000_000;
const MAX_OF_A_GROUP = 15;

/**
 * Reads a request as strictly as the vendor: only JSON is accepted, and unknown fields and wrong values are refused.
 */
export async function parseRequest(request: ReceivedRequest, models: Models): Promise<Read<ParsedRequest>> {
  if (request.headers["content-type"] !== "application/json")
    return { refusal: invalid("body", "content type must be application/json") };
  const values: Values = JSON.parse(request.body.toString("utf8"));
  const unknown = Object.keys(values).find((name) => !FIELDS.has(name));
  if (unknown) return { refusal: invalid(unknown, "unknown parameter") };
  const { model: modelName, prompt, response_format: delivery = "url", watermark = true } = values;
  for (const [name, value] of Object.entries({ model: modelName, prompt }))
    if (typeof value !== "string" || value === "")
      return { refusal: invalid(name, "it is missing", "MissingParameter") };
  const model = models[String(modelName)];
  if (!model) return { refusal: unknownModel(String(modelName)) };
  if (delivery !== "url" && delivery !== "b64_json")
    return { refusal: invalid("response_format", "must be url or b64_json") };
  if (typeof watermark !== "boolean") return { refusal: invalid("watermark", "must be a boolean") };
  const size = readSize(values["size"] ?? "2K", model);
  const references = await countReferences(values["image"], model);
  if (typeof references !== "number") return references;
  const group = readGroup(values, model, references);
  const format = readFormat(values["output_format"], model);
  const refusal = refusalOf(size) ?? refusalOf(group) ?? refusalOf(format);
  if (refusal) return { refusal };
  return {
    modelName: String(modelName),
    prompt: String(prompt),
    ...Object(size),
    ...Object(group),
    ...Object(format),
    references,
    isInline: delivery === "b64_json",
  };
}

function refusalOf(read: Read<object>): Refusal | undefined {
  return "refusal" in read ? read.refusal : undefined;
}

function readSize(size: unknown, model: ArkModel): Read<{ width: number; height: number }> {
  const wrong = (why: string) => ({ refusal: invalid("size", why) });
  const exact = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(model.tiers[String(size)] ?? String(size));
  if (!exact) return wrong("it must be a tier of the model or WIDTHxHEIGHT");
  const [width, height] = [Number(exact[1]), Number(exact[2])];
  if (width * height < model.minPixels) return wrong(`image size must be at least ${model.minPixels} pixels`);
  if (width * height > model.maxPixels) return wrong(`image size must be at most ${model.maxPixels} pixels`);
  if (width > 16 * height || height > 16 * width) return wrong("the ratio must be from 1:16 to 16:1");
  return { width, height };
}

function readFormat(format: unknown, model: ArkModel): Read<{ format: "jpeg" | "png" }> {
  if (format === undefined) return { format: "jpeg" };
  if (!model.hasFormat) return { refusal: invalid("output_format", "the model does not support it") };
  if (format !== "jpeg" && format !== "png")
    return { refusal: invalid("output_format", "must be jpeg or png") };
  return { format };
}

function readGroup(values: Values, model: ArkModel, references: number): Read<{ max: number }> {
  const { stream, sequential_image_generation: group = "disabled" } = values;
  const options = values["sequential_image_generation_options"];
  if (!model.hasGroups) {
    const named = ["stream", "sequential_image_generation", "sequential_image_generation_options"];
    const refused = named.find((name) => values[name] !== undefined);
    if (refused) return { refusal: invalid(refused, "the model does not support it") };
  }
  if (stream !== undefined && typeof stream !== "boolean")
    return { refusal: invalid("stream", "must be a boolean") };
  if (group !== "auto" && group !== "disabled")
    return { refusal: invalid("sequential_image_generation", "must be auto or disabled") };
  if (group === "disabled") return { max: 1 };
  const max: unknown = Object(options)["max_images"] ?? MAX_OF_A_GROUP;
  if (typeof max !== "number" || !Number.isInteger(max) || max < 1 || max + references > MAX_OF_A_GROUP)
    return { refusal: invalid("max_images", "references and images must be at most 15") };
  return { max };
}

async function countReferences(image: unknown, model: ArkModel): Promise<number | { refusal: Refusal }> {
  if (image === undefined) return 0;
  const texts: unknown[] = Array.isArray(image) ? image : [image];
  if (texts.length > model.references)
    return { refusal: invalid("image", `at most ${model.references} images are supported`) };
  for (const text of texts) {
    if (text === "") return { refusal: invalid("image", "empty", "InvalidImageURL.EmptyURL") };
    if (typeof text === "string" && text.startsWith("https://")) continue;
    const picture = await readInlineImage(text);
    if (!picture) return { refusal: invalid("image", "invalid format", "InvalidImageURL.InvalidFormat") };
    const { width, height, bytes } = picture;
    const isSound =
      Math.min(width, height) > 14 &&
      Math.max(width, height) <= 16 * Math.min(width, height) &&
      width * height <= MAX_REFERENCE_PIXELS &&
      bytes.byteLength <= MAX_REFERENCE_BYTES;
    if (!isSound) return { refusal: invalid("image", "size of the image is not supported") };
  }
  return texts.length;
}
