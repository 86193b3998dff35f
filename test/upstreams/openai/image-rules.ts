import type { ReceivedRequest } from "../http-server.ts";
import { invalid, unknownModel, type Refusal } from "./refusals.ts";

export interface ImageFields {
  model: string;
  prompt: string;
  n: number;
  size: string;
  quality: string;
  background: string;
  output_format: "png" | "jpeg" | "webp";
  /** Number of reference images. */
  files: number;
}

export type ReadImages = { fields: ImageFields } | { refusal: Refusal };

const FIELDS: ReadonlySet<string> = new Set(
  "model prompt n size quality background output_format output_compression user stream partial_images".split(
    " ",
  ),
);
const FILE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp"]);
const MAX_FILES = 16;

/** Reads a generation request as strictly as the vendor. */
export async function readGeneration(
  request: ReceivedRequest,
  models: readonly string[],
): Promise<ReadImages> {
  if (request.headers["content-type"] !== "application/json")
    return { refusal: invalid("You must send JSON with content type application/json.", null) };
  const values: Record<string, unknown> = JSON.parse(request.body.toString("utf8"));
  const unknown = Object.keys(values).find((name) => !FIELDS.has(name) && name !== "moderation");
  if (unknown) return { refusal: unknownField(unknown) };
  if (values["n"] !== undefined && typeof values["n"] !== "number")
    return { refusal: invalid("Invalid type for 'n': expected an integer.", "n", "invalid_type") };
  return readFields(values, 0, models);
}

/** Reads the form of an edit as strictly as the vendor. */
export async function readEdit(request: ReceivedRequest, models: readonly string[]): Promise<ReadImages> {
  const values: Record<string, unknown> = {};
  const files: FormPart[] = [];
  for (const part of readParts(request)) {
    if (part.name === "image" || part.name === "image[]" || part.name === "mask") files.push(part);
    else if (FIELDS.has(part.name)) values[part.name] = part.body.toString("utf8");
    else return { refusal: unknownField(part.name) };
  }
  const refusal = findFileFault(files);
  return refusal ? { refusal } : readFields(values, files.length, models);
}

interface FormPart {
  name: string;
  /** Null for a text field. */
  fileName: string | null;
  type: string;
  body: Buffer;
}

/** Reads a form's parts without changes. The platform's own reader would guess a missing type. */
function* readParts({ body, headers }: ReceivedRequest): Generator<FormPart> {
  const boundary = `--${/boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1]}`;
  let start = body.indexOf(boundary) + boundary.length + 2;
  for (;;) {
    const end = body.indexOf(`\r\n${boundary}`, start);
    const split = body.indexOf("\r\n\r\n", start);
    if (end < 0 || split < 0) return;
    const head = body.toString("latin1", start, split);
    yield {
      name: /\bname="([^"]*)"/.exec(head)?.[1] ?? "",
      fileName: /\bfilename="([^"]*)"/.exec(head)?.[1] ?? null,
      type: /^content-type: *(.*)$/im.exec(head)?.[1] ?? "",
      body: body.subarray(split + 4, end),
    };
    start = end + boundary.length + 4;
  }
}

function unknownField(name: string): Refusal {
  return invalid(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
}

function findFileFault(files: readonly FormPart[]): Refusal | undefined {
  const single = files.filter(({ name }) => name === "image").length;
  const images = files.filter(({ name }) => name !== "mask");
  if (images.length === 0)
    return invalid("Missing required parameter: 'image'.", "image", "missing_required_parameter");
  if (single > 1)
    return invalid(
      "Duplicate parameter: 'image'. Use 'image[]' for several.",
      "image",
      "duplicate_parameter",
    );
  if (images.length > MAX_FILES)
    return invalid("Too many images: at most 16.", "image", "array_above_max_length");
  for (const [index, { name, fileName, type }] of files.entries()) {
    const param = name === "mask" ? "mask" : `image[${index}]`;
    if (fileName === null) return invalid(`Invalid type for '${param}'.`, param, "invalid_type");
    if (!FILE_TYPES.has(type))
      return invalid(
        `Invalid file '${param}': unsupported mimetype ('${type}').`,
        param,
        "unsupported_file_mimetype",
      );
    if (!/\.(png|jpe?g|webp)$/.test(fileName))
      return invalid(`Invalid file '${param}': it needs a name.`, param, "invalid_image_file");
  }
  return undefined;
}

function readFields(values: Record<string, unknown>, files: number, models: readonly string[]): ReadImages {
  const {
    model,
    prompt,
    size = "auto",
    quality = "auto",
    background = "auto",
    output_format: format = "png",
  } = values;
  if (typeof model !== "string" || !models.includes(model)) return { refusal: unknownModel(String(model)) };
  if (typeof prompt !== "string" || prompt === "")
    return {
      refusal: invalid("Missing required parameter: 'prompt'.", "prompt", "missing_required_parameter"),
    };
  const n = Number(values["n"] ?? 1);
  if (!Number.isInteger(n) || n < 1 || n > 10)
    return { refusal: invalid("Invalid 'n': expected an integer from 1 to 10.", "n", "invalid_value") };
  const compression = Number(values["output_compression"] ?? 100);
  if (!Number.isInteger(compression) || compression < 0 || compression > 100)
    return { refusal: invalid("Invalid 'output_compression'.", "output_compression", "invalid_value") };
  if (values["output_compression"] !== undefined && format === "png")
    return {
      refusal: invalid("Compression is for jpeg and webp only.", "output_compression", "invalid_value"),
    };
  if (format !== "png" && format !== "jpeg" && format !== "webp")
    return { refusal: invalid(`Invalid value: '${String(format)}'.`, "output_format", "invalid_value") };
  const refusal =
    findSizeFault(String(size)) ?? findLookFault(model, String(quality), String(background), format);
  if (refusal) return { refusal };
  return {
    fields: {
      model,
      prompt,
      n,
      size: String(size),
      quality: String(quality),
      background: String(background),
      output_format: format,
      files,
    },
  };
}

function findSizeFault(size: string): Refusal | undefined {
  if (size === "auto") return undefined;
  const wrong = (why: string) => invalid(`Invalid size '${size}'. ${why}`, "size", "invalid_value");
  if (!/^\d{1,5}x\d{1,5}$/.test(size)) return wrong("It must be auto or WIDTHxHEIGHT.");
  const [width = 0, height = 0] = size.split("x").map(Number);
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  if (width % 16 !== 0 || height % 16 !== 0) return wrong("Width and height must be divisible by 16.");
  if (long > 3840) return wrong("The longest edge must be at most 3840.");
  if (long > 3 * short) return wrong("The ratio must be at most 3:1.");
  if (width * height < 655_360) return wrong("It is below the minimum pixel budget.");
  if (width * height > 8_294_400) return wrong("It is above the maximum pixel budget.");
  return undefined;
}

function findLookFault(
  model: string,
  quality: string,
  background: string,
  format: string,
): Refusal | undefined {
  const plain = ["auto", "low", "medium", "high"];
  const qualities = model === "gpt-image-2" ? plain : [...plain, "xhigh", "max"];
  if (!qualities.includes(quality))
    return invalid(`The model '${model}' does not support quality '${quality}'.`, "quality");
  if (!["auto", "opaque", "transparent"].includes(background))
    return invalid(`Invalid value: '${background}'.`, "background", "invalid_value");
  if (background === "transparent" && model === "gpt-image-2")
    return invalid(`Transparent background is not supported for ${model}.`, "background");
  if (background === "transparent" && format === "jpeg")
    return invalid("Transparent background needs png or webp.", "background", "invalid_value");
  return undefined;
}
