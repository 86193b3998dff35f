import { type FeatureUse, isStandardTier } from "../../domain/feature.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject, type JsonSpan } from "../../lib/json.ts";
import type { TextPayload, TextRequest } from "../dialect.ts";
import {
  boolean,
  type Check,
  checkEach,
  checkTypes,
  type FieldChecks,
  knownNames,
  list,
  number,
  object,
  positive,
  refuseCaseVariants,
  requestSchema,
  shaped,
  STREAM_DESCRIPTION,
  text,
  textOrList,
  texts,
  TYPED,
  wrongType,
} from "../fields.ts";
import { InputSize } from "../input-size.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { FEATURE_FIELDS, fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";
import { readReferences } from "./content.ts";
import { THREAD } from "./error.ts";

export interface MessagesRequest extends TextRequest {
  spans: { model: JsonSpan | undefined };
}

export type MessagesPayload = TextPayload<MessagesRequest>;

/** The caller's headers for vendors of this protocol. Fields of the body depend on these headers. */
const FORWARDED_HEADERS = ["anthropic-version", "anthropic-beta"];
/**
 * Maximum number of tokens that the vendor features of a request add to its prompt, for example pages that a tool
 * reads.
 */
const MAX_SERVER_TOOL_TOKENS = 200_000;

/** Parses and checks a request. Throws a `GatewayError` that names the field to change. */
export function readRequest(bytes: Uint8Array, headers: Headers): MessagesPayload {
  return read(bytes, headers, { isCount: false });
}

/** Reads a request that only counts tokens and therefore needs no `max_tokens`. */
export function readCountRequest(bytes: Uint8Array, headers: Headers): MessagesPayload {
  return read(bytes, headers, { isCount: true });
}

/** Returns the payload of the request with `raw` as its text. */
export function withRaw({ headers, parsed }: MessagesPayload, raw: string): MessagesPayload {
  return read(Buffer.from(raw), new Headers(headers), { isCount: parsed.maxTokens === null });
}

function read(bytes: Uint8Array, headers: Headers, kind: { isCount: boolean }): MessagesPayload {
  const { raw, body, spans } = readBody(bytes, ["model"]);
  const model = requireModelName(body);
  checkNames(body);
  checkFields(body, kind);
  const size = new InputSize(bytes.length, raw.length);
  const { files, linkParam } = readReferences(body, size);
  const features = [...readFeatures(body), ...files];
  const { inputCeiling, estimatedInput, mediaTokens } = size.tokens;
  const maxTokens = body["max_tokens"];
  return {
    dialect: "messages",
    raw,
    headers: forwardedHeaders(headers),
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: typeof maxTokens === "number" ? maxTokens : null,
      choices: 1,
      inputCeiling: inputCeiling + (features.length > 0 ? MAX_SERVER_TOOL_TOKENS : 0),
      estimatedInput,
      mediaTokens,
      features,
      linkParam,
      body,
      spans: { model: spans[0] },
    },
  };
}

function forwardedHeaders(headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED_HEADERS) {
    const value = headers.get(name);
    if (value !== null && value !== "") forwarded[name] = value;
  }
  return forwarded;
}

/** Returns the vendor features that fields and tools of the request use. */
function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
  if (!isStandardTier(body["speed"])) uses.push({ feature: "speed", param: "speed" });
  const { tools } = body;
  if (!Array.isArray(tools)) return uses;
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index];
    if (!isObject(tool)) continue;
    refuseCaseVariants(tool, TOOL_NAMES, `tools[${index}]`);
    const feature = serverTool(tool["type"]);
    if (feature === undefined) continue;
    const maxUses = saneCount(tool["max_uses"]);
    const use = { feature, param: `tools[${index}].type` };
    uses.push(maxUses === null ? use : { ...use, maxUses });
  }
  return uses;
}

const textOrBlocks: Check = {
  holds: textOrList.holds,
  must: "a string or an array of text blocks",
  schema: { anyOf: [text.schema, { type: "array", items: TYPED }] },
};

const FIELDS: FieldChecks = [
  ["max_tokens", positive],
  ["system", textOrBlocks],
  ["stream", boolean, STREAM_DESCRIPTION],
  ["temperature", number],
  ["top_p", number],
  ["top_k", number],
  ["stop_sequences", texts],
  ["tools", shaped(list, { items: object.schema })],
  ["tool_choice", shaped(object, TYPED)],
  ["thinking", shaped(object, TYPED)],
  ["metadata", object],
];

const TURN = requestSchema([], { role: text.schema, content: textOrBlocks.schema });
const PROMPT = { model: text.schema, messages: { type: "array", items: TURN, minItems: 1 } };
const COUNTED: ReadonlySet<string> = new Set(["system", "tools", "tool_choice", "thinking"]);

/** The published schema of a request for a message. */
export const messagesSchema = requestSchema(FIELDS, PROMPT, ["model", "messages", "max_tokens"]);

/** The published schema of a request that counts tokens. It contains only fields that add tokens. */
export const countSchema = requestSchema(
  FIELDS.filter(([name]) => COUNTED.has(name)),
  PROMPT,
);

const BODY_NAMES = knownNames([
  "model",
  "messages",
  "provider",
  "speed",
  THREAD,
  ...FEATURE_FIELDS,
  ...FIELDS.map(([name]) => name),
]);
const MESSAGE_NAMES = knownNames(["role", "content"]);
const THINKING_NAMES = knownNames(["type", "budget_tokens"]);

/**
 * Refuses the field `thread`, and top-level names that differ only in case from a known name, because a vendor might
 * accept them.
 */
function checkNames(body: Record<string, unknown>): void {
  refuseCaseVariants(body, BODY_NAMES);
  // A thread is refused, because the vendor stores it in an account that all callers share.
  if ((body[THREAD] ?? false) === false) return;
  const message = `\`${THREAD}\` keeps the conversation at the vendor. Leave it out and send the whole history.`;
  throw new GatewayError("unsupported_parameter", message, { param: THREAD });
}

/**
 * Throws a `GatewayError` that names the first documented field that is missing or has a wrong type. Ignores other
 * fields. With `isCount`, the request only counts tokens and needs no `max_tokens`.
 */
function checkFields(body: Record<string, unknown>, { isCount }: { isCount: boolean }): void {
  const maxTokens = body["max_tokens"] ?? null;
  if (maxTokens === null && !isCount) throw wrongType("max_tokens", "set: the most tokens to generate");
  checkMessages(body["messages"]);
  checkTypes(body, FIELDS);
  checkEach("system", body["system"], wrongOfBlock);
  checkEach("tools", body["tools"], wrongOfTool);
  checkToolChoice(body["tool_choice"]);
  checkThinking(body["thinking"], maxTokens);
}

function checkMessages(messages: unknown): void {
  const isConversation =
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every((message) => isObject(message) && typeof message["role"] === "string");
  if (!isConversation) throw wrongType("messages", "a non-empty array of objects that each have a `role`");
  for (let index = 0; index < messages.length; index += 1) {
    const name = `messages[${index}]`;
    refuseCaseVariants(messages[index], MESSAGE_NAMES, name);
    const content: unknown = messages[index]["content"];
    if (typeof content === "string") continue;
    if (!Array.isArray(content)) throw wrongType(`${name}.content`, "a string or an array of content blocks");
    checkEach(`${name}.content`, content, wrongOfBlock);
  }
}

/** Returns the rule that a block breaks. Blocks of unknown types break no rule, because the vendor may accept them. */
function wrongOfBlock(block: unknown): string | undefined {
  if (!isObject(block) || typeof block["type"] !== "string") return "an object with a `type`";
  const { type, source } = block;
  if (type === "text" && typeof block["text"] !== "string") return "a block with `text` that is a string";
  if (type === "image" && !(isObject(source) && typeof source["type"] === "string"))
    return "an image block with a `source` that has a `type`";
  if (type === "tool_result" && typeof block["tool_use_id"] !== "string")
    return "a tool result with a `tool_use_id`";
  if (type !== "tool_use") return undefined;
  const isCall = typeof block["id"] === "string" && typeof block["name"] === "string";
  return isCall && isObject(block["input"])
    ? undefined
    : "a tool use with `id`, `name` and an `input` object";
}

/**
 * Returns the requirement that a tool does not meet. A tool with a `type` other than `custom` has no further
 * requirements, because the vendor may accept it.
 */
function wrongOfTool(tool: unknown): string | undefined {
  if (!isObject(tool)) return "an object";
  const type = tool["type"] ?? "custom";
  if (typeof type !== "string") return "a tool whose `type` is a string";
  if (type !== "custom") return undefined;
  if (typeof tool["name"] !== "string") return "a tool with a `name`";
  return isObject(tool["input_schema"]) ? undefined : "a tool whose `input_schema` is a schema object";
}

function checkToolChoice(choice: unknown): void {
  if (!isObject(choice)) return;
  if (typeof choice["type"] !== "string") throw wrongType("tool_choice.type", "a string");
  if (choice["type"] === "tool" && typeof choice["name"] !== "string")
    throw wrongType("tool_choice.name", "the name of a tool");
}

function checkThinking(thinking: unknown, maxTokens: unknown): void {
  if (!isObject(thinking)) return;
  refuseCaseVariants(thinking, THINKING_NAMES, "thinking");
  if (typeof thinking["type"] !== "string") throw wrongType("thinking.type", "a string");
  const budget = thinking["budget_tokens"] ?? null;
  const isRequired = thinking["type"] === "enabled";
  if (budget === null ? isRequired : !positive.holds(budget))
    throw wrongType("thinking.budget_tokens", positive.must);
  if (maxTokens !== null && budget !== null && Number(budget) >= Number(maxTokens))
    throw wrongType("thinking.budget_tokens", "less than `max_tokens`");
}
