import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest, ReferenceSource, RequestedSize } from "../../domain/image.ts";
import { readSize } from "../../domain/size.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import { foldCase, snakeCase } from "../../lib/casing.ts";
import {
  isStreamedObject,
  type JsonPath,
  SpooledString,
  type StreamedJson,
  type StreamedObject,
} from "../../lib/json-spool.ts";
import { readLongText } from "../long-text.ts";
import { knownNames, type KnownNames, refuseCaseVariants } from "../fields.ts";
import { findField, findObject, findObjects, findText, invalid, readFeatures } from "./fields.ts";
import { isThought, type PicturePart, readPicture } from "./parts.ts";

/**
 * Reads a `generateContent` body into the common image request (Gemini API reference, `GenerateContentRequest`). Also
 * stores the body for an upstream of the same protocol. All pictures of the conversation become references, in order.
 * All texts in the caller's turns become parts of the prompt. Throws a `GatewayError` for a wrong request.
 */
export async function readRequest(body: StreamedObject, model: string): Promise<ImageRequest> {
  refuseCaseVariants(body, BODY_NAMES);
  const turns = findObjects(body, "contents")?.value ?? [];
  if (turns.length === 0) throw invalid("contents", "must be an array of at least one turn");
  const config = findObject(body, "generationConfig")?.value ?? {};
  refuseCaseVariants(config, CONFIG_NAMES, "generationConfig");
  checkConfig(config);
  refuseForeignFiles(body);
  const texts: string[] = [];
  const references: ReferenceSource[] = [];
  for (const turn of turns) {
    const isCallers = findText(turn, "role") !== "model";
    for (const part of findObjects(turn, "parts")?.value ?? []) {
      const picture = readPicture(part);
      if (picture) references.push(sourceOf(picture));
      else if (isCallers && !isThought(part)) texts.push(await readText(part));
    }
  }
  const prompt = texts.filter((text) => text.trim() !== "").join("\n");
  if (prompt === "" && references.length === 0) {
    const message = "Say in a `text` part of `contents` what the picture should show, or send a picture.";
    throw new GatewayError("prompt_required", message, { param: "contents" });
  }
  const size = readRequestedSize(config);
  return {
    model,
    prompt,
    size,
    count: 1,
    references,
    compressReferences: false,
    ignored: [],
    features: readFeatures(body, config),
    native: body,
  };
}

const BODY_NAMES = protocolNames(["contents", "generationConfig", "cachedContent", "tools", "serviceTier"]);
const CONFIG_NAMES = protocolNames([
  "candidateCount",
  "responseModalities",
  "responseFormat",
  "imageConfig",
  "serviceTier",
]);

/** Returns both spellings of each name: camel case and snake case. */
function protocolNames(names: readonly string[]): KnownNames {
  return knownNames(names.flatMap((name) => [name, snakeCase(name)]));
}

/** True when the string at this path of the body is a picture in base64. */
export function isPicturePath(path: JsonPath): boolean {
  // Positions in arrays are ignored, because a single item may replace an array of one item.
  const [contents, parts, inline, data, ...rest] = path.filter((step) => typeof step !== "number");
  const isPart = contents === "contents" && parts === "parts";
  return (
    isPart && (inline === "inlineData" || inline === "inline_data") && data === "data" && rest.length === 0
  );
}

/** Throws for settings that change the number or kind of results, because this would change the price. */
function checkConfig(config: StreamedObject): void {
  const count = findField(config, "candidateCount")?.value ?? 1;
  // The JSON of this protocol may contain numbers as strings.
  if (count !== 1 && !(typeof count === "string" && Number(count) === 1))
    throw invalid("candidateCount", "must be 1: send several requests for several pictures");
  const named = findField(config, "responseModalities")?.value ?? [];
  const modalities = Array.isArray(named) ? named : [named];
  const isPictureless =
    modalities.length > 0 &&
    modalities.every((modality) => typeof modality === "string" && modality.toUpperCase() !== "IMAGE");
  if (isPictureless) throw invalid("responseModalities", "must name `IMAGE`: this model makes pictures");
  if (findField(config, "responseFormat")) {
    const message = "`responseFormat` is not supported: set size and shape in `imageConfig`.";
    throw new GatewayError("unsupported_parameter", message, { param: "responseFormat" });
  }
}

/**
 * Refuses references to the vendor's objects that the operator's credential can read: caches, and files outside of a
 * turn's parts. Files in parts are allowed, because the gateway itself fetches them.
 */
function refuseForeignFiles(body: StreamedObject): void {
  if (findField(body, "cachedContent")) {
    const message = "`cachedContent` is not supported: send the conversation itself.";
    throw new GatewayError("unsupported_parameter", message, { param: "cachedContent" });
  }
  const turns = findObjects(body, "contents")?.value ?? [];
  const parts = turns.flatMap((turn) => findObjects(turn, "parts")?.value ?? []);
  const isForeign =
    namesFile(body, ["contents"]) ||
    turns.some((turn) => namesFile(turn, ["parts"])) ||
    parts.some((part) => namesFile(part, FILE_FIELDS));
  if (!isForeign) return;
  const message = "`fileData` stands in a part of `contents` only: send pictures there.";
  throw new GatewayError("unsupported_file_reference", message, { param: "fileData" });
}

const FILE_FIELDS = ["fileData", "file_data"];
const FOLDED_FILE_FIELDS: ReadonlySet<string> = new Set(FILE_FIELDS.map(foldCase));

/** True when an object refers to a file at any depth, except in the `exempt` fields. The depth is already limited. */
function namesFile(value: StreamedJson, exempt: readonly string[] = []): boolean {
  if (Array.isArray(value)) return value.some((item) => namesFile(item));
  if (!isStreamedObject(value)) return false;
  return Object.entries(value).some(
    ([key, item]) => !exempt.includes(key) && (FOLDED_FILE_FIELDS.has(foldCase(key)) || namesFile(item)),
  );
}

/** Reads the requested size. Ignores sizes in pixels, which this protocol does not have. */
function readRequestedSize(config: StreamedObject): RequestedSize {
  const image = findObject(config, "imageConfig")?.value ?? {};
  const ratio = findText(image, "aspectRatio");
  const requested = readSize(findText(image, "imageSize"), ratio);
  return requested.kind === "exact" ? readSize(null, ratio) : requested;
}

async function readText(part: StreamedObject): Promise<string> {
  const text = findField(part, "text")?.value ?? "";
  if (text instanceof SpooledString) return readLongText(text, "contents");
  if (typeof text === "string") return text;
  throw invalid("text", "must be a string");
}

function sourceOf(picture: PicturePart): ReferenceSource {
  if (picture.kind === "link") return { kind: "link", url: picture.url };
  return { kind: "file", blob: bytesOf(picture.data.value) };
}

function bytesOf(data: StreamedJson): Blob {
  if (data instanceof SpooledString && data.decoded) return data.blob;
  const bytes = typeof data === "string" ? decodeBase64(data) : null;
  if (bytes && bytes.length > 0) return new Blob([Uint8Array.from(bytes)]);
  throw new GatewayError("invalid_image", "`inlineData.data` must be a picture in base64.", {
    param: "image",
  });
}
