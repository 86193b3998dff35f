import { isObject } from "../../lib/json.ts";
import {
  boolean,
  checkEach,
  checkTypes,
  list,
  number,
  object,
  positive,
  wrongType,
  type Check,
  type FieldChecks,
} from "../field-checks.ts";
import { knownNames, refuseCaseVariants } from "../field-names.ts";
import { FEATURE_FIELDS } from "../vendor-features.ts";

const texts: Check = {
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  must: "an array of strings",
};
const textOrBlocks: Check = {
  holds: (value) => typeof value === "string" || Array.isArray(value),
  must: "a string or an array of text blocks",
};

const FIELDS: FieldChecks = [
  ["max_tokens", positive],
  ["system", textOrBlocks],
  ["stream", boolean],
  ["temperature", number],
  ["top_p", number],
  ["top_k", number],
  ["stop_sequences", texts],
  ["tools", list],
  ["tool_choice", object],
  ["thinking", object],
  ["metadata", object],
];

const BODY_NAMES = knownNames([
  "model",
  "messages",
  "provider",
  "speed",
  ...FEATURE_FIELDS,
  ...FIELDS.map(([name]) => name),
]);
const MESSAGE_NAMES = knownNames(["role", "content"]);
const THINKING_NAMES = knownNames(["type", "budget_tokens"]);

/** Refuses names at the top level that a vendor could take for one the gateway reads. */
export function checkNames(body: Record<string, unknown>): void {
  refuseCaseVariants(body, BODY_NAMES);
}

/**
 * Throws a `GatewayError` that names the first documented field that is missing or of a wrong type; other fields are
 * not checked. A request that only counts tokens has no maximum of them.
 */
export function checkFields(body: Record<string, unknown>, { isCount }: { isCount: boolean }): void {
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

/** Blocks of other kinds are left to the vendor. */
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

/** Tools with a type of their own are left to the vendor. */
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
