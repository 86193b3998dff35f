import { snakeCase } from "../../../lib/casing.ts";
import type { StreamedObject } from "../../../lib/json-spool.ts";
import {
  boolean,
  number,
  object,
  positive,
  text,
  wrongType,
  type Check,
  type FieldChecks,
} from "../../field-checks.ts";
import { knownNames, refuseCaseVariants, type KnownNames } from "../../field-names.ts";
import { findField, findItems, findObject, invalid } from "../fields.ts";

const texts: Check = {
  holds: (value) => Array.isArray(value) && value.every(text.holds),
  must: "an array of strings",
};
const integer: Check = { holds: Number.isInteger, must: "a whole number" };

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
  ["responseModalities", texts],
  ["thinkingConfig", object],
];

const THINKING_FIELDS: FieldChecks = [
  ["includeThoughts", boolean],
  ["thinkingBudget", integer],
  ["thinkingLevel", text],
];

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

/** Throws a `GatewayError` that names the first field of a wrong type; fields that vendors add are not checked. */
export function checkBody(body: StreamedObject): void {
  refuseCaseVariants(body, BODY_NAMES);
  if ((findItems(body, "contents")?.value ?? []).length === 0)
    throw invalid("contents", "must be an array of at least one turn");
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

/** Known names in camel case and in snake case, which are equivalent. */
export function bothSpellings(names: readonly string[]): KnownNames {
  return knownNames(names.flatMap((name) => [name, snakeCase(name)]));
}
