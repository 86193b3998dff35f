import { camelCase } from "../../../lib/casing.ts";
import { isStreamedObject, type StreamedJson, type StreamedObject } from "../../../lib/json-spool.ts";
import type { Conversation, Tool, ToolChoice } from "../../conversation/request.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import { findField, findObject, findObjects, findText, invalid, namesOf, refuseUnknown } from "../fields.ts";

/** Reads the declared functions and the tool choice. Throws for tools that run at the vendor. */
export function readTools(body: StreamedObject): Pick<Conversation, "tools" | "toolChoice"> {
  const tools: Tool[] = [];
  for (const [index, tool] of (findObjects(body, "tools")?.value ?? []).entries()) {
    refuseUnknown(tool, TOOL_NAMES, `tools[${index}]`);
    for (const declaration of findObjects(tool, "functionDeclarations")?.value ?? [])
      tools.push(readDeclaration(declaration));
  }
  return { tools, toolChoice: readChoice(body) };
}

const TOOL_NAMES = namesOf(["functionDeclarations"]);

function readDeclaration(declaration: StreamedObject): Tool {
  const name = findText(declaration, "name");
  if (name === undefined) throw invalid("tools", "must give each function a `name`");
  const plain = findObject(declaration, "parametersJsonSchema")?.value;
  const parameters = plain ?? findObject(declaration, "parameters")?.value;
  const description = findText(declaration, "description") ?? null;
  return {
    kind: "function",
    name,
    description,
    parameters: parameters === undefined ? null : plain ? parameters : readSchema(parameters),
    strict: null,
  };
}

function readChoice(body: StreamedObject): ToolChoice | null {
  const config = findObject(body, "toolConfig");
  if (!config) return null;
  refuseUnknown(config.value, CONFIG_NAMES, config.key);
  const calling = findObject(config.value, "functionCallingConfig")?.value ?? {};
  refuseUnknown(calling, CALLING_NAMES, `${config.key}.functionCallingConfig`);
  const mode = findText(calling, "mode") ?? "AUTO";
  const names = readNames(findField(calling, "allowedFunctionNames")?.value);
  switch (mode) {
    case "NONE":
      return { type: "none" };
    case "ANY":
      if (names.length === 0) return { type: "required" };
      return names.length === 1
        ? { type: "tool", name: names[0] ?? "" }
        : { type: "allowed", mode: "required", names };
    // In this mode the model may reply without a call, but its calls always match the declarations.
    case "VALIDATED":
      return names.length === 0 ? { type: "auto" } : { type: "allowed", mode: "auto", names };
    case "AUTO":
    case "MODE_UNSPECIFIED":
      return { type: "auto" };
    default:
      throw untranslatable(`${config.key}.functionCallingConfig.mode`);
  }
}

const CONFIG_NAMES = namesOf(["functionCallingConfig"]);
/**
 * Names of the fields that control tool calls. `streamFunctionCallArguments` has no effect for vendors of other
 * protocols, because the gateway writes their calls whole.
 */
const CALLING_NAMES = namesOf(["mode", "allowedFunctionNames", "streamFunctionCallArguments"]);

function readNames(value: StreamedJson | undefined): string[] {
  const names = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return names.filter((name) => typeof name === "string");
}

/** Maximum number of characters of a keyword. Changing the case of a very long text would take seconds. */
const MAX_KEYWORD = 64;

/**
 * Converts a schema of the vendor's form to JSON Schema. The vendor's form is a subset of OpenAPI 3.0, with types in
 * capitals, `nullable`, and bounds that may be strings (Gemini API reference, `Schema`).
 */
export function readSchema(schema: StreamedObject): StreamedObject {
  const read: StreamedObject = {};
  let isNullable = false;
  for (const [key, value] of Object.entries(schema)) {
    const name = key.length > MAX_KEYWORD ? key : camelCase(key);
    if (value === null || name === "propertyOrdering") continue;
    if (name === "nullable") isNullable = value === true;
    else if (name === "type") read["type"] = typeof value === "string" ? value.toLowerCase() : value;
    else if (name === "example") read["examples"] = [value];
    else read[name] = readKeyword(name, value);
  }
  if (isNullable && typeof read["type"] === "string") read["type"] = [read["type"], "null"];
  if (isNullable && Array.isArray(read["enum"])) read["enum"] = [...read["enum"], null];
  return read;
}

function readKeyword(name: string, value: StreamedJson): StreamedJson {
  if (COUNTS.has(name) && typeof value === "string") return Number(value);
  if (name === "items" && isStreamedObject(value)) return readSchema(value);
  if (name === "anyOf" && Array.isArray(value))
    return value.map((each) => (isStreamedObject(each) ? readSchema(each) : each));
  if ((name === "properties" || name === "defs") && isStreamedObject(value)) {
    const entries = Object.entries(value).map(([key, each]): [string, StreamedJson] => [
      key,
      isStreamedObject(each) ? readSchema(each) : each,
    ]);
    return Object.fromEntries(entries);
  }
  return value;
}

/** Keywords with 64-bit numbers. The JSON of protocol buffers writes such numbers as strings. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);
