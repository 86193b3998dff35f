import type { Feature, FeatureUse } from "../../domain/feature.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { isObject, type JsonSpan, ownValue } from "../../lib/json.ts";
import type { TextPayload, TextRequest } from "../dialect.ts";
import {
  boolean,
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
  textOrObject,
  TYPED,
  wrongType,
} from "../fields.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { FEATURE_FIELDS, fieldFeatures, serverTool, TOOL_NAMES } from "../vendor-features.ts";
import { readReferences } from "./references.ts";

export interface ResponsesRequest extends TextRequest {
  modelSpan: JsonSpan | undefined;
}

export type ResponsesPayload = TextPayload<ResponsesRequest>;

/**
 * Parses and checks a request. Throws a `GatewayError` whose `param` names the field to change. Refuses references to
 * earlier responses, because the gateway stores no responses.
 */
export function readRequest(
  bytes: Uint8Array,
  headers: Pick<Headers, "get"> = new Headers(),
): ResponsesPayload {
  const { raw, body, spans } = readBody(bytes, ["model"]);
  const model = requireModelName(body);
  checkNames(body);
  refuseStored(body);
  checkFields(body);
  const { files, linkParam, size } = readReferences(body["input"], bytes.length, raw.length);
  const maxTokens = body["max_output_tokens"];
  return {
    dialect: "responses",
    raw,
    headers: forwardedHeaders(headers),
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: typeof maxTokens === "number" ? maxTokens : null,
      choices: 1,
      ...size.tokens,
      features: [...readFeatures(body), ...files],
      linkParam,
      body,
      modelSpan: spans[0],
    },
  };
}

/** Header that Codex sends when its tools are in an item `additional_tools` of the input. */
const LITE = "x-openai-internal-codex-responses-lite";

/** Returns the caller's headers that belong to this protocol. Only vendors of this protocol get these headers. */
function forwardedHeaders(headers: Pick<Headers, "get">): Record<string, string> {
  const lite = headers.get(LITE);
  return lite === null || lite === "" ? {} : { [LITE]: lite };
}

/** Returns the vendor features that fields and tools of the request use. Tools may also be in an item of the input. */
function readFeatures(body: Record<string, unknown>): FeatureUse[] {
  const uses = fieldFeatures(body);
  readTools(body["tools"], "tools", uses);
  const { input } = body;
  if (Array.isArray(input))
    input.forEach((item: unknown, index) => {
      if (isObject(item)) readTools(item["tools"], `input[${index}].tools`, uses);
    });
  return uses;
}

function readTools(tools: unknown, path: string, uses: FeatureUse[]): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, index) => {
    if (!isObject(tool)) return;
    refuseCaseVariants(tool, TOOL_NAMES, `${path}[${index}]`);
    const feature = toolFeature(tool);
    if (feature !== undefined) uses.push({ feature, param: `${path}[${index}].type` });
    readTools(tool["tools"], `${path}[${index}].tools`, uses);
  });
}

function toolFeature({ type, environment }: Record<string, unknown>): Feature | null | undefined {
  if (type === "shell") return isContainer(environment) ? "code_execution" : undefined;
  if (typeof type === "string" && type.startsWith("computer")) return "computer_use";
  return serverTool(type);
}

/** True when a shell runs in a container at the vendor. Other shells run at the caller (OpenAI shell tool guide). */
function isContainer(environment: unknown): boolean {
  return isObject(environment) && environment["type"] !== "local";
}

/** The documented fields of a request (OpenAI responses reference). */
const FIELDS: FieldChecks = [
  [
    "input",
    shaped(textOrList, {
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", items: object.schema, minItems: 1 },
      ],
    }),
  ],
  ["instructions", text],
  ["stream", boolean, STREAM_DESCRIPTION],
  ["stream_options", object],
  ["store", boolean, "Accepted; nothing is stored here"],
  ["background", shaped(boolean, { const: false })],
  ["max_output_tokens", positive],
  ["max_tool_calls", positive],
  ["temperature", number],
  ["top_p", number],
  ["top_logprobs", number],
  ["tools", shaped(list, { items: TYPED })],
  ["tool_choice", textOrObject],
  ["parallel_tool_calls", boolean],
  ["text", object],
  ["reasoning", object],
  ["include", list],
  ["metadata", object],
  ["truncation", text],
  ["user", text],
  ["safety_identifier", text],
  ["prompt_cache_key", text],
];

/** The published schema of a request for a response. */
export const responsesSchema = requestSchema(FIELDS, { model: text.schema }, ["model", "input"]);

/**
 * Fields that need data stored at the vendor: responses, conversations or prompts. Each value is advice for the error
 * message.
 */
const STORED: Readonly<Record<string, string>> = {
  previous_response_id: "Send the whole conversation in `input` instead.",
  conversation: "Send the whole conversation in `input` instead.",
  background: "Wait for the response instead, as a stream where it may take long.",
  prompt: "Send its text in `instructions` or `input` instead.",
};

const BODY_NAMES = knownNames([
  "model",
  "provider",
  ...FEATURE_FIELDS,
  ...Object.keys(STORED),
  ...namesOf(FIELDS),
]);
const ITEM_NAMES = knownNames([
  "type",
  "id",
  "role",
  "content",
  "call_id",
  "name",
  "namespace",
  "arguments",
  "input",
  "output",
  "summary",
  "encrypted_content",
  "tools",
]);

function namesOf(fields: FieldChecks): string[] {
  return fields.map(([name]) => name);
}

/** Refuses top-level names that differ only in case from a known name, because a vendor might accept them. */
function checkNames(body: Record<string, unknown>): void {
  refuseCaseVariants(body, BODY_NAMES);
}

/** Refuses fields that need stored responses, prompts or conversations. Null and `background: false` are allowed. */
function refuseStored(body: Record<string, unknown>): void {
  for (const name in STORED) {
    const value = body[name];
    if (value === undefined || value === null || (name === "background" && value !== true)) continue;
    throw unsupported(name, `\`${name}\` is not supported: nothing is stored here. ${STORED[name]}`);
  }
}

/** Throws a `GatewayError` that names the first documented field with a wrong value. Ignores other fields. */
function checkFields(body: Record<string, unknown>): void {
  const { input } = body;
  if (input === undefined || input === null || input === "" || (Array.isArray(input) && input.length === 0))
    throw wrongType("input", "a non-empty string or array");
  checkTypes(body, FIELDS);
  checkTools("tools", body["tools"]);
  if (Array.isArray(input)) input.forEach((item: unknown, index) => checkItem(item, `input[${index}]`));
}

function checkItem(item: unknown, path: string): void {
  if (!isObject(item)) throw wrongType(path, "an object");
  refuseCaseVariants(item, ITEM_NAMES, path);
  const { type } = item;
  if (type === "item_reference") {
    const message = `\`${path}\` refers to a stored item, and nothing is stored here. Set \`store\` to false in your client, so that it sends the item itself.`;
    throw unsupported(path, message);
  }
  if (type === undefined || type === null || type === "message") return checkMessage(item, path);
  if (type !== undefined && !text.holds(type)) throw wrongType(`${path}.type`, text.must);
  const fields = ownValue(ITEM_FIELDS, String(type));
  if (!fields) return;
  for (const [name, check] of fields)
    if (!check.holds(item[name])) throw wrongType(`${path}.${name}`, check.must);
  if (Array.isArray(item["output"])) checkEach(`${path}.output`, item["output"], wrongOfPart);
  checkTools(`${path}.tools`, item["tools"]);
}

/**
 * Required fields of items, by type. The fields of other items are not checked here, because the vendor may accept
 * them.
 */
const ITEM_FIELDS: Readonly<Record<string, FieldChecks | undefined>> = {
  function_call: [
    ["call_id", text],
    ["name", text],
    ["arguments", text],
  ],
  custom_tool_call: [
    ["call_id", text],
    ["name", text],
    ["input", text],
  ],
  function_call_output: [
    ["call_id", text],
    ["output", textOrList],
  ],
  custom_tool_call_output: [
    ["call_id", text],
    ["output", textOrList],
  ],
  additional_tools: [["tools", list]],
};

/** Checks a list of tools and the tools of its namespaces. */
function checkTools(path: string, tools: unknown): void {
  checkEach(path, tools, wrongOfTool);
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, index) => {
    if (isObject(tool) && tool["type"] === "namespace")
      checkEach(`${path}[${index}].tools`, tool["tools"], wrongOfTool);
  });
}

function checkMessage(item: Record<string, unknown>, path: string): void {
  if (!text.holds(item["role"])) throw wrongType(`${path}.role`, text.must);
  const { content } = item;
  if (!textOrList.holds(content)) throw wrongType(`${path}.content`, "a string or an array of parts");
  checkEach(`${path}.content`, content, wrongOfPart);
}

/** Returns the rule that a part breaks. Parts of unknown types break no rule, because the vendor may accept them. */
function wrongOfPart(part: unknown): string | undefined {
  if (!isObject(part) || !text.holds(part["type"])) return "an object with a `type`";
  return TEXT_TYPES.has(part["type"]) && !text.holds(part["text"])
    ? "a part with `text` that is a string"
    : undefined;
}

/** Types of parts with a `text`. `text` is the type of chat, which some clients send. */
export const TEXT_TYPES: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);

/** Returns the rule that a tool breaks. Tools of unknown types break no rule, because the vendor may accept them. */
function wrongOfTool(tool: unknown): string | undefined {
  if (!isObject(tool) || !text.holds(tool["type"])) return "an object with a `type`";
  const { type } = tool;
  if (type !== "function" && type !== "custom" && type !== "namespace") return undefined;
  if (!text.holds(tool["name"])) return `a ${String(type)} tool with a \`name\``;
  if (type === "namespace")
    return list.holds(tool["tools"]) ? undefined : "a namespace whose `tools` are an array";
  return isObject(tool["parameters"] ?? {}) ? undefined : "a tool whose `parameters` are a schema object";
}

function unsupported(param: string, message: string): GatewayError {
  return new GatewayError("unsupported_parameter", message, { param });
}
