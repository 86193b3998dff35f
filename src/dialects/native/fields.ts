import { namesAudio } from "../vendor-features.ts";
import { featureNamed, type FeatureUse, isStandardTier } from "../../domain/feature.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { snakeCase } from "../../lib/casing.ts";
import { isStreamedObject, type StreamedJson, type StreamedObject } from "../../lib/json-spool.ts";
import { ownValue } from "../../lib/json.ts";
import { untranslatable } from "../conversation/untranslatable.ts";

/** A field of the body, with its name as spelled in the body. */
export interface Field<Value extends StreamedJson = StreamedJson> {
  key: string;
  value: Value;
}

/**
 * Finds a field by its camel-case or snake-case name. Both names mean the same field (protocol buffers, JSON mapping).
 * `null` counts as absent. Throws if both names exist, because vendors may use either.
 */
export function findField(object: StreamedObject, name: string): Field | undefined {
  const other = otherNameOf(name);
  const isPresent = Object.hasOwn(object, name);
  if (isPresent && other !== name && Object.hasOwn(object, other)) {
    throw invalid(name, `stands there twice, also as \`${other}\``);
  }
  const key = isPresent ? name : other;
  const value = ownValue(object, key);
  return value === undefined || value === null ? undefined : { key, value };
}

/**
 * Returns the snake-case form of a name. A cache keeps the few names that thousands of parts need. The cache never
 * shrinks, so `name` must not come from a caller.
 */
function otherNameOf(name: string): string {
  const known = OTHER_NAMES.get(name);
  if (known !== undefined) return known;
  const other = snakeCase(name);
  OTHER_NAMES.set(name, other);
  return other;
}

const OTHER_NAMES = new Map<string, string>();

/** Returns an optional field that must be an object. */
export function findObject(object: StreamedObject, name: string): Field<StreamedObject> | undefined {
  const field = findField(object, name);
  if (!field) return undefined;
  if (!isStreamedObject(field.value)) throw invalid(name, "must be an object");
  return { key: field.key, value: field.value };
}

/** Returns an optional field that must be an array of objects. A single object counts as an array of one. */
export function findObjects(object: StreamedObject, name: string): Field<StreamedObject[]> | undefined {
  const field = findField(object, name);
  if (!field) return undefined;
  const { key, value } = field;
  if (isStreamedObject(value)) return { key, value: [value] };
  if (!Array.isArray(value) || !value.every(isStreamedObject))
    throw invalid(name, "must be an array of objects");
  return { key, value };
}

/** Returns an optional field that must be a short string. */
export function findText(object: StreamedObject, name: string): string | undefined {
  const value = findField(object, name)?.value;
  if (value === undefined || typeof value === "string") return value;
  throw invalid(name, "must be a string");
}

/** Replaces the value at `key`. The order of the fields stays the same. */
export function withValue(object: StreamedObject, key: string, value: StreamedJson): StreamedObject {
  return { ...object, [key]: value };
}

export function invalid(name: string, must: string): GatewayError {
  return new GatewayError("invalid_parameter", `\`${name}\` ${must}.`, { param: name });
}

/** Maximum number of characters in the name of a feature. Changing the case of a very long name would take seconds. */
const MAX_FEATURE = 64;

/**
 * Returns the features that a `generateContent` body uses. All tools except declared functions run at the vendor, even
 * unknown tools (Gemini API reference, `Tool`).
 */
export function readFeatures(body: StreamedObject, config: StreamedObject): FeatureUse[] {
  const uses = otherTiers(body, config).map((param): FeatureUse => ({ feature: "service_tier", param }));
  const modalities = findField(config, "responseModalities");
  if (modalities && namesAudio(modalities.value))
    uses.push({ feature: "audio_output", param: `generationConfig.${modalities.key}` });
  for (const [index, tool] of (findObjects(body, "tools")?.value ?? []).entries()) {
    for (const [name, value] of Object.entries(tool)) {
      const feature = snakeCase(name.slice(0, MAX_FEATURE));
      if (feature === "function_declarations" || value === null) continue;
      uses.push({ feature: featureNamed(feature), param: `tools[${index}].${name}` });
    }
  }
  return uses;
}

/** Returns the names of the fields that request a service tier other than the standard tier. */
export function otherTiers(body: StreamedObject, config: StreamedObject): string[] {
  const tiers = [body, config].map((object) => findField(object, "serviceTier"));
  return tiers.flatMap((tier) => (tier && !isStandardTier(tier.value) ? [tier.key] : []));
}

/** Throws for an unknown field with a value, because a translation to another protocol would lose this value. */
export function refuseUnknown(object: StreamedObject, known: ReadonlySet<string>, path: string): void {
  const [name] = unknownNames(object, known);
  if (name !== undefined) throw untranslatable(`${path}.${name}`);
}

/** Returns the names of unknown fields with a value. */
export function unknownNames(object: StreamedObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((name) => !known.has(name) && (ownValue(object, name) ?? null) !== null);
}

/** Returns each name in camel case and in snake case, because both spellings name the same field in this protocol. */
export function namesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, snakeCase(name)]));
}
