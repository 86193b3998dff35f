/** A field for one of a provider's settings, as the JSON Schema of the settings describes it. */
export interface SettingField {
  name: string;
  kind: "text" | "number" | "switch" | "choice" | "json";
  /** The values to choose from; empty for other fields. */
  choices: readonly (string | boolean | number)[];
  help: string | null;
  isRequired: boolean;
  /** The value that applies when the field is empty. */
  fallback: unknown;
}

/** The part of JSON Schema that providers' settings use. */
export interface SettingSchema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, SettingSchema>>;
  required?: readonly string[];
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly SettingSchema[];
  oneOf?: readonly SettingSchema[];
}

/** Returns the fields for an object's schema, required fields first. A nested value is one field with JSON. */
export function settingFields(schema: SettingSchema): SettingField[] {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]): SettingField => {
    const { kind, choices } = kindOf(property);
    const { description: help = null, default: fallback } = property;
    return { name, kind, choices, help, fallback, isRequired: required.has(name) && fallback === undefined };
  });
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter((field) => !field.isRequired)];
}

/** Converts the texts of a form to settings. Empty fields are left out. Throws a `SyntaxError` for invalid JSON. */
export function settingsOf(
  fields: readonly SettingField[],
  written: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const { name, kind, choices } of fields) {
    const text = (written[name] ?? "").trim();
    if (text === "") continue;
    if (kind === "number") settings[name] = Number(text);
    else if (kind === "switch") settings[name] = text === "true";
    else if (kind === "choice") settings[name] = choices.find((choice) => String(choice) === text) ?? text;
    else settings[name] = kind === "json" ? JSON.parse(text) : text;
  }
  return settings;
}

/** Returns the text that a setting's field shows. */
export function writtenSetting({ kind }: SettingField, value: unknown): string {
  if (value === undefined || value === null) return "";
  return kind === "json" ? JSON.stringify(value) : String(value);
}

function kindOf(schema: SettingSchema): Pick<SettingField, "kind" | "choices"> {
  const variants = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== "null");
  if (variants?.length === 1 && variants[0]) return kindOf(variants[0]);
  const choices = variants ? variants.flatMap((variant) => valuesOf(variant)) : valuesOf(schema, true);
  if (choices.length > 0 && (!variants || variants.every((variant) => valuesOf(variant).length > 0)))
    return { kind: "choice", choices };
  const type = [schema.type].flat().find((name) => name !== "null");
  if (type === "boolean") return { kind: "switch", choices: [] };
  if (type === "integer" || type === "number") return { kind: "number", choices: [] };
  return { kind: type === "string" ? "text" : "json", choices: [] };
}

/**
 * Returns the values that a schema lists; true and false for a boolean that is one of several variants. A boolean that
 * is the only variant (`isAlone`) has no listed values, because its field is a switch.
 */
function valuesOf({ type, enum: listed, const: only }: SettingSchema, isAlone = false) {
  const values = listed ?? (only === undefined ? [] : [only]);
  if (values.length === 0 && type === "boolean" && !isAlone) return [true, false];
  return values.filter((value) => isChoice(value));
}

function isChoice(value: unknown): value is string | boolean | number {
  return ["string", "boolean", "number"].includes(typeof value);
}

/**
 * Settings whose help has a text. They are named by the setting, or by vendor and setting where a vendor's setting has
 * another meaning.
 */
const SETTINGS = [
  "apiVersion",
  "authorityUrl",
  "fanOut",
  "messagesBaseUrl",
  "metadataUrl",
  "organization",
  "pollIntervalMs",
  "project",
  "responses",
  "sessionToken",
  "surface",
  "tasks",
  "tokensPerSecond",
  "openai.responses",
  "vertex.metadataUrl",
  "vertex.project",
] as const;

/** Returns the name of the text that explains a vendor's setting; undefined when there is none. */
export function helpOf(provider: string, name: string): (typeof SETTINGS)[number] | undefined {
  return SETTINGS.find((each) => each === `${provider}.${name}`) ?? SETTINGS.find((each) => each === name);
}
