import { isObject } from "../../lib/json.ts";
import {
  boolean,
  checkEach,
  checkTypes,
  list,
  number,
  object,
  positive,
  text,
  textOrObject,
  textOrTexts,
  wrongType,
  type FieldChecks,
} from "../field-checks.ts";
import { knownNames, refuseCaseVariants } from "../field-names.ts";
import { FEATURE_FIELDS } from "../vendor-features.ts";

const FIELDS: FieldChecks = [
  ["stream", boolean],
  ["stream_options", object],
  ["max_tokens", positive],
  ["max_completion_tokens", positive],
  ["n", positive],
  ["best_of", positive],
  ["temperature", number],
  ["top_p", number],
  ["stop", textOrTexts],
  ["tools", list],
  ["tool_choice", textOrObject],
  ["response_format", object],
  ["reasoning_effort", text],
];

const BODY_NAMES = knownNames([
  "model",
  "messages",
  "provider",
  ...FEATURE_FIELDS,
  ...FIELDS.map(([name]) => name),
]);
const STREAM_OPTIONS_NAMES = knownNames(["include_usage"]);
const MESSAGE_NAMES = knownNames(["role", "content"]);

/** Refuses names at the top level that a vendor could take for one the gateway reads. */
export function checkNames(body: Record<string, unknown>): void {
  refuseCaseVariants(body, BODY_NAMES);
}

/** Throws a `GatewayError` that names the first documented field of a wrong type; other fields are not checked. */
export function checkFields(body: Record<string, unknown>): void {
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

/** Parts of other kinds are left to the vendor. */
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

/** Tools of other kinds are left to the vendor. */
function wrongOfTool(tool: unknown): string | undefined {
  if (!isObject(tool) || typeof tool["type"] !== "string") return "an object with a `type`";
  if (tool["type"] !== "function") return undefined;
  const definition = tool["function"];
  if (!isObject(definition) || typeof definition["name"] !== "string") return "a `function` with a `name`";
  const parameters = definition["parameters"] ?? {};
  return isObject(parameters) ? undefined : "a `function` whose `parameters` are a schema object";
}
