import { decodeBase64 } from "../../../src/lib/base64.ts";
import { isObject } from "../../../src/lib/json.ts";
import type { ReceivedRequest } from "../http-server.ts";
import { MODELS, type SimulatedModel } from "./models.table.ts";
import { invalid, unknownModel, unknownName, type Refusal } from "./refusals.ts";

export interface ParsedRequest {
  modelName: string;
  model: SimulatedModel;
  prompt: string;
  references: Reference[];
  /** Undefined means the shape of the first reference. */
  ratio: string | undefined;
  tier: string;
  mimeType: "image/png" | "image/jpeg";
  hasProse: boolean;
}

export interface Reference {
  mimeType: string;
  bytes: Buffer;
}

/** The interface to which a request was sent. */
export interface Surface {
  isVertex: boolean;
}

const MAX_BODY_BYTES = 100_000_000;
const MAX_REFERENCES = 14;
const MAX_VERTEX_BYTES = 7_000_000;
const TOP = "contents generationConfig safetySettings systemInstruction tools toolConfig".split(" ");
const CONFIG =
  "responseModalities imageConfig candidateCount seed temperature topP topK thinkingConfig".split(" ");
const IMAGE = ["aspectRatio", "imageSize"];
const VERTEX_IMAGE = [...IMAGE, "imageOutputOptions", "personGeneration", "prominentPeople"];
/** Checks of a file's first bytes, by type. */
const SIGNATURES: Readonly<Record<string, (head: string) => boolean>> = {
  "image/png": (head) => head.startsWith("\x89PNG"),
  "image/jpeg": (head) => head.startsWith("\xff\xd8\xff"),
  "image/webp": (head) => head.slice(8, 12) === "WEBP",
  "image/heic": (head) => head.slice(4, 8) === "ftyp",
  "image/heif": (head) => head.slice(4, 8) === "ftyp",
  "image/avif": (head) => head.slice(4, 12) === "ftypavif",
};

/** The functions below throw this error, whose refusal `parseRequest` returns. */
class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Reads a request as strictly as the vendor does. */
export function parseRequest(
  request: ReceivedRequest,
  modelName: string,
  surface: Surface,
): ParsedRequest | Refusal {
  try {
    return read(request, modelName, surface);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function read(request: ReceivedRequest, modelName: string, surface: Surface): ParsedRequest {
  const model = MODELS[modelName];
  if (!model) throw new Refused(unknownModel(modelName));
  if (request.headers["content-type"] !== "application/json")
    throw new Refused(invalid("Invalid content type: application/json is expected."));
  if (request.body.byteLength > MAX_BODY_BYTES)
    throw new Refused(invalid("Request payload size exceeds the limit."));
  const body = objectAt(JSON.parse(request.body.toString("utf8")), "", TOP);
  const { prompt, references } = readContents(body["contents"], surface);
  return { modelName, model, prompt, references, ...readConfig(body["generationConfig"], model, surface) };
}

function readContents(contents: unknown, surface: Surface): Pick<ParsedRequest, "prompt" | "references"> {
  if (!Array.isArray(contents) || contents.length === 0)
    throw new Refused(invalid("* GenerateContentRequest.contents: contents is not specified", "contents"));
  const texts: string[] = [];
  const references: Reference[] = [];
  for (const value of contents) {
    const { role, parts } = objectAt(value, "contents[0]", ["role", "parts"]);
    if (role !== "user" && role !== "model" && !(role === undefined && !surface.isVertex))
      throw new Refused(invalid("Please use a valid role: user, model.", "contents"));
    if (!Array.isArray(parts) || parts.length === 0)
      throw new Refused(invalid("contents.parts must not be empty.", "contents.parts"));
    for (const part of parts) {
      const { text, inlineData } = objectAt(part, "contents[0].parts[0]", ["text", "inlineData"]);
      if (typeof text === "string") texts.push(text);
      else references.push(readReference(inlineData, surface));
    }
  }
  if (references.length > MAX_REFERENCES) throw new Refused(invalid("Too many images in the request."));
  return { prompt: texts.join("\n"), references };
}

function readReference(value: unknown, { isVertex }: Surface): Reference {
  const path = "contents[0].parts[0].inline_data";
  const { mimeType, data } = objectAt(value, path, ["mimeType", "data"]);
  const matches = SIGNATURES[String(mimeType)];
  if (!matches) throw new Refused(invalid(`Unsupported MIME type: ${String(mimeType)}`, `${path}.mime_type`));
  const bytes = typeof data === "string" ? decodeBase64(data) : null;
  if (!bytes) throw new Refused(invalid("Base64 decoding failed.", path));
  if (!matches(bytes.toString("latin1", 0, 12)))
    throw new Refused(invalid("Unable to process input image.", path));
  if (isVertex && bytes.byteLength > MAX_VERTEX_BYTES)
    throw new Refused(invalid("The inline image exceeds 7 MB.", path));
  return { mimeType: String(mimeType), bytes };
}

function readConfig(value: unknown, model: SimulatedModel, surface: Surface) {
  const config = objectAt(value ?? {}, "generation_config", CONFIG);
  const modalities = config["responseModalities"] ?? ["TEXT", "IMAGE"];
  if (!Array.isArray(modalities) || !modalities.includes("IMAGE"))
    throw new Refused(invalid("The model does not support the requested response modalities."));
  if ((config["candidateCount"] ?? 1) !== 1)
    throw new Refused(invalid("Multiple candidates is not enabled for this model", "candidate_count"));
  const path = "generation_config.image_config";
  const image = objectAt(config["imageConfig"] ?? {}, path, surface.isVertex ? VERTEX_IMAGE : IMAGE);
  const { aspectRatio: ratio, imageSize: tier = "1K", imageOutputOptions: output } = image;
  if (ratio !== undefined && !model.ratios.some((one) => one === ratio))
    throw new Refused(invalid(`aspect_ratio ${String(ratio)} is not supported.`, `${path}.aspect_ratio`));
  if (typeof tier !== "string" || model.tokens[tier] === undefined)
    throw new Refused(invalid(`image_size ${String(tier)} is not supported.`, `${path}.image_size`));
  return {
    ratio: ratio === undefined ? undefined : String(ratio),
    tier,
    mimeType: readOutput(output, `${path}.image_output_options`),
    hasProse: modalities.includes("TEXT"),
  };
}

function readOutput(value: unknown, path: string): ParsedRequest["mimeType"] {
  const { mimeType = "image/png", compressionQuality = 75 } = objectAt(value ?? {}, path, [
    "mimeType",
    "compressionQuality",
  ]);
  if (mimeType !== "image/png" && mimeType !== "image/jpeg")
    throw new Refused(invalid(`Unsupported output mime type ${String(mimeType)}.`, path));
  const quality = Number(compressionQuality);
  if (!Number.isInteger(quality) || quality < 0 || quality > 100)
    throw new Refused(invalid("compression_quality must be from 0 to 100.", path));
  return mimeType;
}

function objectAt(value: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) throw new Refused(invalid(`Invalid value at '${path}'.`, path));
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refused(unknownName(unknown, path));
  return value;
}
