import type { FeatureUse } from "../../domain/feature.ts";
import { isObject, type JsonSpan } from "../../lib/json.ts";
import type { TextPayload, TextRequest } from "../dialect.ts";
import {
  boolean,
  checkEach,
  checkTypes,
  type FieldChecks,
  type JsonSchema,
  knownNames,
  list,
  nullable,
  number,
  object,
  positive,
  refuseCaseVariants,
  requestSchema,
  shaped,
  STREAM_DESCRIPTION,
  text,
  textOrObject,
  textOrTexts,
  TYPED,
  wrongType,
} from "../fields.ts";
import { InputSize } from "../input-size.ts";
import { requireLink } from "../links.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { FEATURE_FIELDS, fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";

export interface ChatRequest extends TextRequest {
  spans: { model: JsonSpan | undefined; streamOptions: JsonSpan | undefined; bodyStart: number };
  /** True for a client of Mistral. Such clients fail on OpenAI's fields that Mistral does not have. */
  isMistralClient: boolean;
}

export type ChatPayload = TextPayload<ChatRequest>;

/** Parses and checks a request. Throws a `GatewayError`, whose `param` names the field to change if there is one. */
export function readRequest(bytes: Uint8Array, isMistralClient = false): ChatPayload {
  const { raw, body, spans, bodyStart } = readBody(bytes, ["model", "stream_options"]);
  const model = requireModelName(body);
  const [modelSpan, streamOptions] = spans;
  checkNames(body);
  checkFields(body);
  const size = inputSize(bytes.length, raw.length, body["messages"]);
  const { files, linkParam } = readReferences(body["messages"], size);
  return {
    dialect: "chat",
    raw,
    headers: {},
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: largerOf(integer(body["max_completion_tokens"]), integer(body["max_tokens"])),
      choices: largerOf(integer(body["n"]), integer(body["best_of"])) ?? 1,
      ...size.tokens,
      features: [...readFeatures(body), ...files],
      linkParam,
      body,
      spans: { model: modelSpan, streamOptions, bodyStart },
      isMistralClient,
    },
  };
}

/** True when the `user-agent` names a client of Mistral (TypeScript or Python) or the AI SDK's provider for it. */
export function isMistralClient(headers: Pick<Headers, "get">): boolean {
  return /\bmistralai\b|\bmistral-client\b|ai-sdk\/mistral\b/.test(headers.get("user-agent") ?? "");
}

/**
 * Returns the larger number of two fields; null when both are absent. Vendors obey one of the fields, or bill up to the
 * larger number. Therefore the hold must cover the larger number.
 */
function largerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function integer(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Returns the size of a prompt: its body, of `bytes` bytes and `units` UTF-16 code units, and its media. */
function inputSize(bytes: number, units: number, messages: unknown): InputSize {
  const size = new InputSize(bytes, units);
  for (const part of partsOf(messages)) {
    const { image_url: image } = part;
    const url = typeof image === "string" ? image : memberOf(image, "url");
    if (url !== undefined) size.addImage(url.startsWith("data:") ? url : null);
    else {
      const data = memberOf(part["input_audio"], "data") ?? memberOf(part["file"], "file_data");
      if (data !== undefined) size.addMedia(data);
    }
  }
  return size;
}

function* partsOf(messages: unknown): Generator<Record<string, unknown>> {
  if (!Array.isArray(messages)) return;
  for (const message of messages) {
    const content: unknown = isObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    for (const part of content) if (isObject(part)) yield part;
  }
}

function memberOf(value: unknown, name: string): string | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === "string" ? member : undefined;
}

/** Returns the vendor features that fields and tools of the request use. */
function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    if (!isObject(tool)) continue;
    refuseCaseVariants(tool, TOOL_NAMES, `tools[${index}]`);
    const feature = serverTool(tool["type"]);
    if (feature !== undefined) uses.push({ feature, param: `tools[${index}].type` });
  }
  return uses;
}

const FIELDS: FieldChecks = [
  ["stream", boolean, STREAM_DESCRIPTION],
  ["stream_options", object],
  ["max_tokens", positive],
  ["max_completion_tokens", positive],
  ["n", positive],
  ["best_of", positive],
  ["temperature", number],
  ["top_p", number],
  ["stop", textOrTexts],
  ["tools", shaped(list, { items: TYPED })],
  ["tool_choice", textOrObject],
  ["response_format", object],
  ["reasoning_effort", text],
];

const PART: JsonSchema = {
  ...TYPED,
  description: "`text`, or `image_url` with a `data:` URL or a public https link",
};
const CONTENT = nullable({ anyOf: [text.schema, { type: "array", items: PART }] });
const MESSAGE = requestSchema([], { role: text.schema, content: CONTENT }, ["role"]);

/** The published schema of a chat request. */
export const chatSchema = requestSchema(FIELDS, {
  model: text.schema,
  messages: { type: "array", items: MESSAGE, minItems: 1 },
});

const BODY_NAMES = knownNames([
  "model",
  "messages",
  "provider",
  ...FEATURE_FIELDS,
  ...FIELDS.map(([name]) => name),
]);
const STREAM_OPTIONS_NAMES = knownNames(["include_usage"]);
const MESSAGE_NAMES = knownNames(["role", "content"]);

/** Refuses top-level names that differ only in case from a known name, because a vendor might accept them. */
function checkNames(body: Record<string, unknown>): void {
  refuseCaseVariants(body, BODY_NAMES);
}

/** Throws a `GatewayError` for the first documented field with a wrong type, and for a name in the wrong case. */
function checkFields(body: Record<string, unknown>): void {
  checkMessages(body["messages"]);
  checkTypes(body, FIELDS);
  checkEach("tools", body["tools"], wrongOfTool);
  if (isObject(body["stream_options"]))
    refuseCaseVariants(body["stream_options"], STREAM_OPTIONS_NAMES, "stream_options");
}

function checkMessages(messages: unknown): void {
  const isConversation = Array.isArray(messages) && messages.length > 0 && messages.every(hasRole);
  if (!isConversation) throw wrongType("messages", "a non-empty array of objects that each have a `role`");
  for (let index = 0; index < messages.length; index += 1) {
    refuseCaseVariants(messages[index], MESSAGE_NAMES, `messages[${index}]`);
    const content: unknown = messages[index]["content"];
    if (typeof content === "string" || content === null || content === undefined) continue;
    const name = `messages[${index}].content`;
    if (!Array.isArray(content)) throw wrongType(name, "a string or an array of parts");
    checkEach(name, content, wrongOfPart);
  }
}

function hasRole(message: unknown): boolean {
  return isObject(message) && typeof message["role"] === "string";
}

/** Returns the rule that a part breaks. Parts of unknown types break no rule, because the vendor may accept them. */
function wrongOfPart(part: unknown): string | undefined {
  if (!isObject(part) || typeof part["type"] !== "string") return "an object with a `type`";
  if (part["type"] === "text" && typeof part["text"] !== "string")
    return "a part with `text` that is a string";
  if (part["type"] !== "image_url") return undefined;
  const image = part["image_url"];
  return isObject(image) && typeof image["url"] === "string"
    ? undefined
    : "a part with `image_url` that is an object with a `url`";
}

/** Returns the rule that a tool breaks. Tools of unknown types break no rule, because the vendor may accept them. */
function wrongOfTool(tool: unknown): string | undefined {
  if (!isObject(tool) || typeof tool["type"] !== "string") return "an object with a `type`";
  if (tool["type"] !== "function") return undefined;
  const definition = tool["function"];
  if (!isObject(definition) || typeof definition["name"] !== "string") return "a `function` with a `name`";
  const parameters = definition["parameters"] ?? {};
  return isObject(parameters) ? undefined : "a `function` whose `parameters` are a schema object";
}

/** References in the messages to data outside of the request. */
interface References {
  /** Files in the operator's account at the vendor, with the request's fields that refer to these files. */
  files: readonly FeatureUse[];
  /** Path of the field with the first `https:` link; null when there is no link. */
  linkParam: string | null;
}

const PART_NAMES = knownNames([
  "type",
  "text",
  "image_url",
  "video_url",
  "audio_url",
  "document_url",
  "file_url",
  "file",
  "file_id",
  "input_audio",
]);
const MEDIA_NAMES = knownNames(["url", "data", "file_data", "file_url", "file_id"]);
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Finds the references in content parts of all types, in the part itself and in its objects. Throws a `GatewayError`
 * for a link that is neither `data:` nor public `https:`, because a vendor inside a private network would fetch this
 * link. Adds the size of linked media to `size`, except for pictures.
 */
function readReferences(messages: unknown, size: InputSize): References {
  const files: FeatureUse[] = [];
  let linkParam: string | null = null;
  eachPart(messages, (part, path) => {
    refuseCaseVariants(part, PART_NAMES, path);
    readMembers(path, part);
    for (const name in part) {
      const media = part[name];
      if (!isObject(media)) continue;
      refuseCaseVariants(media, MEDIA_NAMES, `${path}.${name}`);
      readMembers(`${path}.${name}`, media);
    }
  });
  return { files, linkParam };

  function readMembers(path: string, object: Record<string, unknown>): void {
    for (const name in object) {
      const value = object[name];
      if (typeof value !== "string") continue;
      const param = `${path}.${name}`;
      if (name === "file_id") files.push({ feature: "file_id", param });
      if (!isLink(name, value) || !requireLink(value, param)) continue;
      linkParam ??= param;
      if (name !== "image_url" && !path.endsWith(".image_url")) size.addLinkedMedia();
    }
  }
}

/** True for a field of links, and for a field of data whose value is a link in place of base64. */
function isLink(name: string, value: string): boolean {
  if (name === "url" || name.endsWith("_url")) return true;
  return (name === "data" || name === "file_data") && SCHEME.test(value);
}

function eachPart(messages: unknown, take: (part: Record<string, unknown>, path: string) => void): void {
  if (!Array.isArray(messages)) return;
  for (let at = 0; at < messages.length; at += 1) {
    const message: unknown = messages[at];
    const content: unknown = isObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    for (let index = 0; index < content.length; index += 1) {
      const part: unknown = content[index];
      if (isObject(part)) take(part, `messages[${at}].content[${index}]`);
    }
  }
}
