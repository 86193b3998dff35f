import { join } from "node:path";
import { z } from "zod";
import { readCatalogue } from "../config/catalogue.ts";
import { OTHER_VARIABLES, RUNTIME_VARIABLES, variablesByPath } from "../config/environment.ts";
import { fileSchema } from "../config/file-schema.ts";
import { isReloadable } from "../config/reload.ts";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { code, list, type ReferencePage, sentence } from "./page.ts";

interface Setting {
  /** Path of the setting in the file: `server.port`, `channels.<id>.provider`. */
  path: string;
  schema: Schema;
  isRequired: boolean;
}

type Schema = z.core.JSONSchema.JSONSchema;

/** Returns the page of all keys of the configuration file. */
export function configurationPage(): ReferencePage {
  const settings = settingsOf(rootSchema(), "");
  const variables = variablesByPath();
  const sections = Map.groupBy(settings, ({ path }) => /^[^.]+/.exec(path)?.[0] ?? path);
  const isPlain = ([section, rows]: readonly [string, readonly Setting[]]) =>
    rows.every(({ path }) => path === section);
  const plain = [...sections].filter(isPlain);
  const grouped = [...sections].filter((each) => !isPlain(each));
  const lines = (rows: readonly Setting[]) =>
    list(rows.map((setting) => [code(setting.path), meaningOf(setting, variables.get(setting.path))]));
  return {
    name: "configuration",
    title: "The configuration file",
    source: "the schema of the configuration file",
    body: `Every key is optional; a key in \`channels\` and \`models\` is required where its line says so. \`<id>\` stands for a name
of your own. [Configure](../set-up/configure.md) says where the file stands and how it is checked.
[\`gateway.schema.json\`](../gateway.schema.json) is the same for editors.

A section that is reloaded takes effect within a second of a change of the file. Any other needs a start.

## Without a section

These take effect at the next start.

${lines(plain.flatMap(([, rows]) => rows))}

${grouped.map(([section, rows]) => `## ${code(section)}\n\n${reloadOf(section, rows)}${lines(rows)}`).join("\n\n")}`,
  };
}

export async function environmentPage(): Promise<ReferencePage> {
  const settings = new Map(settingsOf(rootSchema(), "").map((setting) => [setting.path, setting]));
  const own = [...variablesByPath()].map(([path, variable]): [string, string] => {
    const setting = settings.get(path);
    const meaning = setting ? meaningOf(setting, undefined) : UNDESCRIBED[path];
    return [code(variable), `${meaning} Sets ${code(path)}.`];
  });
  const files = await readCatalogue(join(PROGRAM_ROOT, "catalogue"), () => {});
  const vendors = files.flatMap(({ channel, provider }): [string, string][] => {
    const { credentialVariable, baseUrlVariable, regionVariable, id } = channel;
    const switches = [credentialVariable, baseUrlVariable].filter((name) => name !== null);
    if (switches.length === 0) return [];
    const region = regionVariable === null ? "" : `; ${code(regionVariable)} has its region`;
    const meaning = `the channel ${code(id)} of the provider [${code(provider)}](providers.md#${provider})${region}.`;
    return [[switches.map(code).join(" with "), meaning]];
  });
  return {
    name: "environment",
    title: "Environment variables",
    source: "the table of environment variables and the schema of the configuration file",
    body: `A variable wins over the file. An empty one counts as not set. Variables are read at the start only; a file \`.env\` in the
working directory is read too, and exported variables win over it.

## Settings

Lists are separated by commas.

${list(own)}

## Without a setting

${list(Object.entries(OTHER_VARIABLES).map(([name, meaning]) => [code(name), sentence(meaning)]))}

## Vendors

Each switches on a [shipped channel](../set-up/connect-a-vendor.md) with the models that the catalogue lists for it.

${list(vendors)}

## Of the runtime

The program sets these by itself when they are absent.

- ${code(`BUN_CONFIG_MAX_HTTP_REQUESTS=${RUNTIME_VARIABLES["BUN_CONFIG_MAX_HTTP_REQUESTS"]}`)}: Outgoing calls at once; the runtime's own limit is 256.
- ${code(`MIMALLOC_PURGE_DELAY=${RUNTIME_VARIABLES["MIMALLOC_PURGE_DELAY"]}`)}: Milliseconds after which free memory goes back to the system.
- ${code(`MIMALLOC_PAGE_FULL_RETAIN=${RUNTIME_VARIABLES["MIMALLOC_PAGE_FULL_RETAIN"]}`)}: Large blocks that each thread keeps after their use.

These are read as elsewhere: ${code("NODE_EXTRA_CA_CERTS")}, a file of certificate authorities of your own; ${code("HTTP_PROXY")} and
${code("HTTPS_PROXY")}, with ${code("OUTBOUND_PROXY=environment")} only. ${code("NODE_TLS_REJECT_UNAUTHORIZED")} and ${code("PGSSLMODE")} are ignored.`,
  };
}

/**
 * Meanings of the variables that set a whole section, by the path of the section. The schema does not describe these
 * variables.
 */
const UNDESCRIBED: Readonly<Record<string, string>> = {
  limits: "`none` removes every default limit, those of the file too.",
};

function rootSchema(): Schema {
  return z.toJSONSchema(fileSchema, { io: "input" });
}

/**
 * Returns the settings that a schema contains, in the order of the schema. A list or mapping of plain values counts as
 * one setting.
 */
function settingsOf(schema: Schema, path: string): Setting[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, property]): Setting[] => {
    const own = path === "" ? name : `${path}.${name}`;
    if (name === "$schema" || typeof property !== "object") return [];
    const inner = innerOf(property);
    const isRequired = required.includes(name);
    if (inner === null || isTable(inner.schema)) return [{ path: own, schema: property, isRequired }];
    const whole = property.description === undefined ? [] : [{ path: own, schema: property, isRequired }];
    return whole.concat(settingsOf(inner.schema, `${own}${inner.suffix}`));
  });
}

/** Returns the schema of the settings inside a setting; null when the setting contains no other settings. */
function innerOf(schema: Schema): { schema: Schema; suffix: string } | null {
  const choices = [schema, ...(schema.anyOf ?? [])].filter((each) => typeof each === "object");
  for (const choice of choices) {
    if (choice.properties && !isReference(choice)) return { schema: choice, suffix: "" };
    for (const [entries, suffix] of [
      [choice.additionalProperties, ".<id>"],
      [choice.items, "[]"],
    ] as const)
      if (
        typeof entries === "object" &&
        !Array.isArray(entries) &&
        entries.properties &&
        !isReference(entries)
      )
        return { schema: entries, suffix };
  }
  return null;
}

/** True for a mapping of a few values with self-explanatory names. Such a mapping counts as one setting. */
function isTable({ properties = {} }: Schema): boolean {
  return Object.values(properties).every(
    (property) => typeof property === "object" && !property.description && innerOf(property) === null,
  );
}

/** True for the form of a secret reference, `{env: NAME}` or `{file: path}`. */
function isReference({ properties = {} }: Schema): boolean {
  const names = Object.keys(properties);
  return names.length === 1 && ["env", "file"].includes(names[0] ?? "");
}

function meaningOf({ schema, isRequired }: Setting, variable: string | undefined): string {
  const parts = [
    schema.description === undefined ? "" : marked(sentence(schema.description)),
    keysOf(schema),
    isRequired ? "Required." : "",
    valuesOf(schema),
    defaultOf(schema),
    variable === undefined ? "" : `Variable ${code(variable)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** Formats addresses, references and names of settings as code. The schema has plain text, because editors show it. */
function marked(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  const plain =
    /\b[a-z]\w*:\/\/[^\s,;]*[^\s,;.)]|\{[^{}]*\}|<[^<>]+>|(?<![\w/])\/[a-z]\w+|\b[A-Za-z]+_\w+\b/g;
  return parts.map((part) => (part.startsWith("`") ? part : part.replace(plain, "`$&`"))).join("");
}

/** Returns a sentence with the keys and defaults of a mapping that is one setting; empty for other schemas. */
function keysOf(schema: Schema): string {
  const inner = innerOf(schema);
  if (inner === null || !isTable(inner.schema)) return "";
  const keys = Object.entries(inner.schema.properties ?? {}).map(([name, property]) => {
    const value = typeof property === "object" ? property.default : undefined;
    return value === undefined ? code(name) : `${code(name)} (${code(String(value))})`;
  });
  return `Keys ${keys.join(", ")}.`;
}

function valuesOf(schema: Schema): string {
  const choices = [schema, ...(schema.anyOf ?? [])].filter((each) => typeof each === "object");
  const words = choices.flatMap(({ enum: values = [] }) => values);
  if (words.length > 1 && words.length <= 6)
    return `One of ${words.map((word) => code(String(word))).join(", ")}.`;
  for (const { minimum, maximum } of choices)
    if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
      return `From ${minimum.toLocaleString("en")} to ${maximum.toLocaleString("en")}.`;
  return "";
}

function defaultOf({ default: value }: Schema): string {
  if (value === undefined || isEmpty(value)) return "";
  return `Default ${code(String(value))}.`;
}

/** True for an empty default. Then the rows of the inner settings show the defaults. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Returns a sentence that says when changes to a section take effect. */
function reloadOf(section: string, rows: readonly Setting[]): string {
  const reloaded = rows.filter(isReloadable).map(({ path }) => path);
  if (reloaded.length === rows.length) return `${code(section)} is reloaded.\n\n`;
  const but = reloaded.length === 0 ? "" : `; ${reloaded.map(code).join(", ")} is reloaded`;
  return `Takes effect at the next start${but}.\n\n`;
}
