import { isObject } from "../../../src/lib/json.ts";
import { invalid } from "./refusals.ts";
import { objectAt, readContents, Refused, type Content } from "./text-contents.ts";
import type { SimulatedTextModel } from "./text-models.table.ts";

export interface ParsedTextRequest {
  contents: Content[];
  functions: { name: string; parameters: Record<string, unknown> }[];
  mode: string;
  allowed: string[] | null;
  maxTokens: number;
  /** Names that the reply's JSON must have; null for plain text. */
  required: string[] | null;
  isThinking: boolean;
  showsThoughts: boolean;
  promptTokens: number;
}

export interface TextSurface {
  isVertex: boolean;
  isOwnSignature(value: unknown): boolean;
}

const TOP = "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent".split(
  " ",
);
const CONFIG = (
  "temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty frequencyPenalty " +
  "responseMimeType responseSchema responseJsonSchema responseLogprobs logprobs responseModalities mediaResolution " +
  "thinkingConfig"
).split(" ");
const INT32 = 2 ** 31;

/** Reads a text request as strictly as the vendor. Throws `Refused`. */
export function readTextRequest(
  request: Record<string, unknown>,
  model: SimulatedTextModel,
  { isVertex, isOwnSignature }: TextSurface,
): ParsedTextRequest {
  const body = objectAt(request, "", isVertex ? [...TOP, "labels"] : TOP);
  const contents = readContents(body["contents"], {
    demandsRoles: isVertex,
    checksSignatures: model.thinking === "level",
    isOwnSignature,
  });
  const functions = readTools(body["tools"]);
  const config = objectAt(body["generationConfig"] ?? {}, "generation_config", CONFIG);
  checkNumbers(config);
  const isJson = config["responseMimeType"] === "application/json";
  if (isJson && functions.length > 0 && model.thinking === "budget")
    throw refused("Function calling with a response mime type: 'application/json' is unsupported");
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  if (schema !== undefined && !isJson)
    throw refused("A response schema needs response_mime_type application/json.");
  const { contents: said, systemInstruction, tools } = body;
  return {
    contents,
    functions,
    ...readCalling(body["toolConfig"], functions),
    maxTokens: Number(config["maxOutputTokens"] ?? 65_536),
    required: isJson ? requiredOf(schema) : null,
    ...readThinking(config["thinkingConfig"], model),
    promptTokens: Math.ceil(JSON.stringify({ said, systemInstruction, tools }).length / 4),
  };
}

function readTools(value: unknown): ParsedTextRequest["functions"] {
  if (value !== undefined && (!Array.isArray(value) || value.length === 0)) throw refused("tools: empty.");
  const tools = Array.isArray(value) ? value : [];
  const declarations = tools.flatMap((tool) => {
    const { functionDeclarations } = objectAt(tool, "tools[0]", ["functionDeclarations", "googleSearch"]);
    return Array.isArray(functionDeclarations) ? functionDeclarations : [];
  });
  return declarations.map((each) => {
    const known =
      "name description parameters parametersJsonSchema response responseJsonSchema behavior".split(" ");
    const declaration = objectAt(each, "tools[0].function_declarations[0]", known);
    const { name, parameters, parametersJsonSchema } = declaration;
    if (typeof name !== "string" || !/^[a-zA-Z_][\w.:-]{0,127}$/.test(name))
      throw refused("Invalid function name.");
    if (parameters !== undefined && parametersJsonSchema !== undefined)
      throw refused("parameters and parameters_json_schema are mutually exclusive.");
    if (isObject(parameters)) checkSchema(parameters);
    return { name, parameters: Object(parametersJsonSchema ?? parameters ?? {}) };
  });
}

const SCHEMA = (
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
  "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
).split(" ");

/** The vendor's schema format has fewer keywords than JSON Schema. */
function checkSchema(schema: Record<string, unknown>): void {
  const { properties, items } = objectAt(schema, "tools[0].function_declarations[0].parameters", SCHEMA);
  for (const each of Object.values(Object(properties ?? {}))) if (isObject(each)) checkSchema(each);
  if (isObject(items)) checkSchema(items);
}

function readCalling(
  value: unknown,
  functions: ParsedTextRequest["functions"],
): Pick<ParsedTextRequest, "mode" | "allowed"> {
  const { functionCallingConfig = {} } = objectAt(value ?? {}, "tool_config", ["functionCallingConfig"]);
  const known = ["mode", "allowedFunctionNames", "streamFunctionCallArguments"];
  const { mode = "AUTO", allowedFunctionNames: names } = objectAt(
    functionCallingConfig,
    "tool_config",
    known,
  );
  if (!["AUTO", "ANY", "NONE", "VALIDATED"].includes(String(mode)))
    throw refused("Invalid function calling mode.");
  if (names === undefined) return { mode: String(mode), allowed: null };
  if (mode !== "ANY" && mode !== "VALIDATED")
    throw refused("allowed_function_names should only be set when the function calling mode is ANY.");
  const allowed = Array.isArray(names) ? names.map(String) : [];
  const isDeclared = allowed.every((name) => functions.some((each) => each.name === name));
  if (!isDeclared) throw refused("allowed_function_names must be among the declared functions.");
  return { mode: String(mode), allowed };
}

function checkNumbers(config: Record<string, unknown>): void {
  const inRange = (name: string, min: number, max: number) => {
    const value = config[name];
    if (value !== undefined && !(typeof value === "number" && value >= min && value <= max))
      throw refused(`Unable to submit request because ${name} must be in the range [${min}, ${max}].`);
  };
  inRange("temperature", 0, 2);
  inRange("topP", 0, 1);
  inRange("topK", 1, 1_000);
  inRange("candidateCount", 1, 8);
  inRange("maxOutputTokens", 1, 65_536);
  inRange("presencePenalty", -2, 2);
  inRange("frequencyPenalty", -2, 2);
  inRange("seed", -INT32, INT32 - 1);
  const stops = config["stopSequences"];
  if (Array.isArray(stops) && (stops.length > 5 || stops.includes("")))
    throw refused("The number of stop_sequences must be at most 5.");
}

function readThinking(
  value: unknown,
  model: SimulatedTextModel,
): Pick<ParsedTextRequest, "isThinking" | "showsThoughts"> {
  const known = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
  const config = objectAt(value ?? {}, "generation_config.thinking_config", known);
  const { includeThoughts = false, thinkingBudget: budget, thinkingLevel: level } = config;
  if (budget !== undefined && level !== undefined)
    throw refused("You can only set only one of thinking budget and thinking level.");
  if (level !== undefined && model.thinking !== "level")
    throw refused("Thinking level is not supported for this model.");
  if (level !== undefined && !model.levels.includes(String(level)))
    throw refused(`Thinking level ${String(level)} is not supported for this model.`);
  const isOut =
    budget !== undefined &&
    budget !== -1 &&
    !(Number(budget) >= model.minBudget && Number(budget) <= model.maxBudget);
  if (isOut) throw refused(`The thinking budget ${String(budget)} is invalid.`);
  return { isThinking: budget !== 0, showsThoughts: includeThoughts === true };
}

function requiredOf(schema: unknown): string[] {
  const required = isObject(schema) ? schema["required"] : undefined;
  return Array.isArray(required) ? required.map(String) : [];
}

function refused(message: string): Refused {
  return new Refused(invalid(message));
}
