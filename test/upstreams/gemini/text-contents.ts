import { decodeBase64 } from "../../../src/lib/base64.ts";
import { isObject } from "../../../src/lib/json.ts";
import { invalid, unknownName, type Refusal } from "./refusals.ts";

/** Thrown for input that the vendor refuses. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

export interface Content {
  role: string;
  parts: Record<string, unknown>[];
}

interface ContentRules {
  demandsRoles: boolean;
  /** True when calls of the current turn need a signature. */
  checksSignatures: boolean;
  isOwnSignature(value: unknown): boolean;
}

const PART = (
  "text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode " +
  "codeExecutionResult videoMetadata mediaResolution"
).split(" ");
/** A part has exactly one of these fields. */
const DATA = ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"];
const SKIPPED = "skip_thought_signature_validator";

/** Reads a conversation as strictly as the vendor: order of calls and results, names, signatures, empty parts. */
export function readContents(value: unknown, rules: ContentRules): Content[] {
  const list = isObject(value) ? [value] : value;
  if (!Array.isArray(list) || list.length === 0)
    throw new Refused(invalid("* GenerateContentRequest.contents: contents is not specified", "contents"));
  const contents = list.map((content, index) => readContent(content, `contents[${index}]`, rules));
  checkCalls(contents);
  if (rules.checksSignatures) checkSignatures(contents, rules);
  return contents;
}

function readContent(value: unknown, path: string, { demandsRoles }: ContentRules): Content {
  const { role = "user", parts, ...others } = objectAt(value, path, ["role", "parts"]);
  if (!["user", "model", "function"].includes(String(role)))
    throw new Refused(invalid("Please use a valid role: user, model.", "contents"));
  if (demandsRoles && !("role" in Object(value)))
    throw new Refused(invalid("Please use a valid role: user, model.", "contents"));
  const list = isObject(parts) ? [parts] : parts;
  if (!Array.isArray(list) || list.length === 0 || Object.keys(others).length > 0)
    throw new Refused(invalid("contents.parts must not be empty.", "contents.parts"));
  const isModel = role === "model";
  return {
    role: String(role),
    parts: list.map((part, index) => readPart(part, `${path}.parts[${index}]`, isModel)),
  };
}

function readPart(value: unknown, path: string, isModel: boolean): Record<string, unknown> {
  const part = objectAt(value, path, PART);
  const data = DATA.filter((name) => name in part);
  if (data.length !== 1) throw new Refused(invalid(`${path}.data: required oneof field 'data'`, path));
  // An empty text is allowed from the model, because clients send back the empty last event of a stream.
  if (part["text"] === "" && !isModel)
    throw new Refused(invalid("Unable to submit request because it must have a text parameter.", path));
  if ("inlineData" in part) {
    const inline = objectAt(part["inlineData"], path, ["mimeType", "data"]);
    const bytes = typeof inline["data"] === "string" ? decodeBase64(inline["data"]) : null;
    if (!bytes || typeof inline["mimeType"] !== "string")
      throw new Refused(invalid("Base64 decoding failed.", path));
  }
  if ("fileData" in part) {
    const file = objectAt(part["fileData"], path, ["mimeType", "fileUri"]);
    if (typeof file["mimeType"] !== "string" || !String(file["fileUri"]).startsWith("https://"))
      throw new Refused(invalid("Unsupported file URI type.", path));
  }
  return part;
}

/** Checks that calls follow the user's content, and that results of the same number and names follow the calls. */
function checkCalls(all: readonly Content[]): void {
  // Official clients send each event of a stream back as a content, including the empty last event.
  const contents = all.filter(({ role, parts }) => role !== "model" || parts.some(({ text }) => text !== ""));
  for (const [index, content] of contents.entries()) {
    const calls = content.parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : []));
    const results = content.parts.flatMap(({ functionResponse: each }) => (isObject(each) ? [each] : []));
    const before = contents[index - 1];
    if (calls.length > 0 && (content.role !== "model" || !before || before.role === "model"))
      throw new Refused(
        invalid(
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        ),
      );
    for (const call of calls) {
      objectAt(call, "function_call", ["id", "name", "args"]);
      if (!isObject(call["args"] ?? {})) throw new Refused(invalid("Invalid value at 'function_call.args'."));
    }
    const asked =
      before?.parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : [])) ?? [];
    if (results.length !== asked.length && (results.length > 0 || asked.length > 0))
      throw new Refused(
        invalid(
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        ),
      );
    for (const [at, result] of results.entries()) {
      const { name, response } = objectAt(result, "function_response", ["id", "name", "response", "parts"]);
      if (!isObject(response)) throw new Refused(invalid("Invalid value at 'function_response.response'."));
      if (name !== asked[at]?.["name"])
        throw new Refused(invalid("function_response.name: Name cannot be empty or differ from its call."));
    }
  }
}

/** In the current turn, the first call of each step needs its signature (Gemini API, thought signatures). */
function checkSignatures(contents: readonly Content[], { isOwnSignature }: ContentRules): void {
  const start = contents.findLastIndex(
    ({ role, parts }) =>
      role === "user" && parts.some(({ functionResponse }) => functionResponse === undefined),
  );
  for (const { parts } of contents.slice(start)) {
    const first = parts.find(({ functionCall }) => functionCall !== undefined);
    const signature = first?.["thoughtSignature"];
    if (!first || signature === SKIPPED) continue;
    if (signature === undefined)
      throw new Refused(invalid("Function call is missing a thought_signature in functionCall parts."));
    if (!isOwnSignature(signature)) throw new Refused(invalid("Corrupted thought signature."));
  }
}

/** Reads an object, whose names may be in snake case (protobuf JSON mapping). Throws for an unknown name. */
export function objectAt(value: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) throw new Refused(invalid(`Invalid value at '${path}'.`, path));
  const entries = Object.entries(value).map(([name, each]) => [camelCase(name), each] as const);
  const unknown = entries.find(([name]) => !known.includes(name))?.[0];
  if (unknown !== undefined) throw new Refused(unknownName(unknown, path));
  return Object.fromEntries(entries);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
