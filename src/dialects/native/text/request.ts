import type { FeatureUse } from "../../../domain/feature.ts";
import { snakeCase } from "../../../lib/casing.ts";
import type { StreamedObject } from "../../../lib/json-spool.ts";
import { isObject } from "../../../lib/json.ts";
import type { TextPayload, TextRequest } from "../../dialect.ts";
import {
  boolean,
  type FieldChecks,
  integer,
  type JsonSchema,
  knownNames,
  type KnownNames,
  nullable,
  number,
  object,
  positive,
  refuseCaseVariants,
  requestSchema,
  shaped,
  text,
  texts,
  wrongType,
} from "../../fields.ts";
import { InputSize } from "../../input-size.ts";
import { requireLink } from "../../links.ts";
import { readBody } from "../../request-body.ts";
import { findField, findObject, findObjects, findText, invalid, readFeatures } from "../fields.ts";

export type NativeRequest = TextRequest & { body: StreamedObject };

export type NativePayload = TextPayload<NativeRequest>;

/** The facts about a request that its address contains. */
interface NativeCall {
  model: string;
  isStream: boolean;
}

/**
 * Parses and checks a `generateContent` request for a text model. Accepts camel-case and snake-case names of fields
 * (Gemini API reference, `GenerateContentRequest`). Throws a `GatewayError` for a wrong request.
 */
export function readRequest(bytes: Uint8Array, call: NativeCall): NativePayload {
  const { raw, body } = readBody(bytes, []);
  return readParsed(raw, body, call);
}

/** Reads a request for the number of tokens. The counted request is the body or its field `generateContentRequest`. */
export function readCountRequest(bytes: Uint8Array, model: string): NativePayload {
  const { raw, body, spans } = readBody(bytes, ["generateContentRequest", "generate_content_request"]);
  const span = spans.find((each) => each !== undefined);
  const inner = body["generateContentRequest"] ?? body["generate_content_request"];
  const call = { model, isStream: false };
  return span && isObject(inner)
    ? readParsed(raw.slice(span.start, span.end), inner, call)
    : readParsed(raw, body, call);
}

function readParsed(
  raw: string,
  parsed: Record<string, unknown>,
  { model, isStream }: NativeCall,
): NativePayload {
  // Parsed JSON is also valid streamed JSON, in which no value is on disk.
  const body = parsed as StreamedObject;
  checkBody(body);
  const config = configOf(body);
  const { files, linkParam, size } = readMedia(body, Buffer.byteLength(raw), raw.length);
  const cache = findField(body, "cachedContent");
  return {
    dialect: "native",
    raw,
    headers: {},
    parsed: {
      model,
      isStream,
      maxTokens: numberIn(config, "maxOutputTokens"),
      choices: numberIn(config, "candidateCount") ?? 1,
      ...size,
      features: [
        ...readFeatures(body, config),
        ...files,
        // A cache is an object in the operator's account. Its storage is billed separately.
        ...(cache ? [{ feature: null, param: cache.key }] : []),
      ],
      linkParam,
      body,
    },
  };
}

export function configOf(body: StreamedObject): StreamedObject {
  return findObject(body, "generationConfig")?.value ?? {};
}

/** Returns a number from checked fields; null when the field is absent. */
export function numberIn(object: StreamedObject, name: string): number | null {
  const value = findField(object, name)?.value;
  return typeof value === "number" ? value : null;
}

const THINKING_FIELDS: FieldChecks = [
  ["includeThoughts", boolean],
  ["thinkingBudget", integer],
  ["thinkingLevel", text],
];

const CONFIG_FIELDS: FieldChecks = [
  ["candidateCount", positive],
  ["maxOutputTokens", positive],
  ["temperature", number],
  ["topP", number],
  ["topK", number],
  ["seed", integer],
  ["presencePenalty", number],
  ["frequencyPenalty", number],
  ["stopSequences", texts],
  ["responseMimeType", text],
  ["responseSchema", object],
  ["responseModalities", texts, "Contains `IMAGE` for pictures"],
  ["thinkingConfig", shaped(object, requestSchema(THINKING_FIELDS, {}))],
];

const PART = requestSchema(
  [],
  {
    text: text.schema,
    inlineData: requestSchema([], { mimeType: text.schema, data: text.schema }, ["data"]),
    fileData: requestSchema([], { fileUri: text.schema }),
  },
  [],
);
const TURN = requestSchema([], { role: text.schema, parts: oneOrMore(PART) }, []);
const WITH_PARTS: JsonSchema = {
  type: "object",
  properties: { parts: { anyOf: [object.schema, { type: "array", minItems: 1 }] } },
  required: ["parts"],
};
const IMAGE_FIELDS: FieldChecks = [
  ["aspectRatio", text],
  ["imageSize", text],
];

/** The published schema of a request for text or pictures. */
export const nativeSchema = requestSchema(
  [],
  {
    contents: {
      anyOf: [{ allOf: [TURN, WITH_PARTS] }, { type: "array", items: TURN, contains: WITH_PARTS }],
    },
    systemInstruction: nullable(object.schema),
    generationConfig: nullable(
      requestSchema(CONFIG_FIELDS, { imageConfig: nullable(requestSchema(IMAGE_FIELDS, {})) }, []),
    ),
    tools: nullable(oneOrMore(object.schema)),
  },
  ["contents"],
);

function oneOrMore(items: JsonSchema, bounds: JsonSchema = {}): JsonSchema {
  return { anyOf: [items, { type: "array", items, ...bounds }] };
}

const BODY_NAMES = bothSpellings([
  "contents",
  "systemInstruction",
  "generationConfig",
  "cachedContent",
  "tools",
  "toolConfig",
  "serviceTier",
]);
const CONFIG_NAMES = bothSpellings([...CONFIG_FIELDS.map(([name]) => name), "serviceTier"]);

/** Throws a `GatewayError` for the first documented field with a wrong type, and for a name in the wrong case. */
function checkBody(body: StreamedObject): void {
  refuseCaseVariants(body, BODY_NAMES);
  const contents = findObjects(body, "contents")?.value ?? [];
  if (contents.length === 0) throw invalid("contents", "must be an array of at least one turn");
  if (contents.every((turn) => (findObjects(turn, "parts")?.value ?? []).length === 0))
    throw invalid("contents", "must have a turn with at least one part");
  findObject(body, "systemInstruction");
  findObject(body, "toolConfig");
  const config = findObject(body, "generationConfig")?.value ?? {};
  refuseCaseVariants(config, CONFIG_NAMES, "generationConfig");
  check(config, CONFIG_FIELDS, "generationConfig");
  const thinking = findObject(config, "thinkingConfig")?.value ?? {};
  check(thinking, THINKING_FIELDS, "generationConfig.thinkingConfig");
}

function check(object: StreamedObject, fields: FieldChecks, path: string): void {
  for (const [name, { holds, must }] of fields) {
    const field = findField(object, name);
    if (field && !holds(field.value)) throw wrongType(`${path}.${field.key}`, must);
  }
}

/** Returns known names in camel case and in snake case, because both spellings name the same field in this protocol. */
function bothSpellings(names: readonly string[]): KnownNames {
  return knownNames(names.flatMap((name) => [name, snakeCase(name)]));
}

interface Media {
  /** Files in the operator's account at the vendor, with the request's fields that refer to these files. */
  files: readonly FeatureUse[];
  /** Path of the field with the first link that a vendor would fetch; null when there is no link. */
  linkParam: string | null;
  size: InputSize["tokens"];
}

const PART_NAMES = bothSpellings([
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "thought",
  "thoughtSignature",
]);
const MEDIA_NAMES = bothSpellings(["mimeType", "data", "fileUri"]);

/**
 * Finds the size, links and files of the parts in turns, instructions and function results. `bytes` and `units` (UTF-16
 * code units) are the size of the body. Throws a `GatewayError` for a link that is not public.
 */
function readMedia(body: StreamedObject, bytes: number, units: number): Media {
  const files: FeatureUse[] = [];
  const size = new InputSize(bytes, units);
  let linkParam: string | null = null;
  const instruction = findObject(body, "systemInstruction");
  if (instruction) readParts(instruction.value, instruction.key);
  for (const [index, turn] of (findObjects(body, "contents")?.value ?? []).entries()) {
    findText(turn, "role");
    readParts(turn, `contents[${index}]`);
  }
  return { files, linkParam, size: size.tokens };

  function readParts(owner: StreamedObject, path: string): void {
    for (const [index, part] of (findObjects(owner, "parts")?.value ?? []).entries())
      readPart(part, `${path}.parts[${index}]`);
  }

  function readPart(part: StreamedObject, path: string): void {
    refuseCaseVariants(part, PART_NAMES, path);
    findText(part, "text");
    const inline = findObject(part, "inlineData");
    if (inline) readInline(inline.value, `${path}.${inline.key}`);
    const file = findObject(part, "fileData");
    if (file) readFile(file.value, `${path}.${file.key}`);
    const result = findObject(part, "functionResponse");
    if (result) readParts(result.value, `${path}.${result.key}`);
  }

  function readInline(inline: StreamedObject, path: string): void {
    refuseCaseVariants(inline, MEDIA_NAMES, path);
    const data = findText(inline, "data");
    if (data === undefined) throw invalid(`${path}.data`, "must be base64");
    if (isImage(findText(inline, "mimeType"))) size.addImage(data);
    else size.addMedia(data);
  }

  function readFile(file: StreamedObject, path: string): void {
    refuseCaseVariants(file, MEDIA_NAMES, path);
    const uri = findText(file, "fileUri");
    const param = `${path}.fileUri`;
    if (uri === undefined) throw invalid(param, "must be an https link");
    if (isOfOperator(uri)) files.push({ feature: "file_id", param });
    else if (requireLink(uri, param)) linkParam ??= param;
    if (isImage(findText(file, "mimeType"))) size.addImage(null);
    else size.addLinkedMedia();
  }
}

function isImage(mimeType: string | undefined): boolean {
  return mimeType !== undefined && /^image\//i.test(mimeType);
}

/** True for a file in the vendor's storage that the operator's credential can read (Gemini API, file input methods). */
function isOfOperator(uri: string): boolean {
  if (/^(?:gs:\/\/|files\/)/i.test(uri)) return true;
  const host = URL.parse(uri)?.hostname ?? "";
  return /(?:^|\.)googleapis\.com$/.test(host) || host === "storage.cloud.google.com";
}
