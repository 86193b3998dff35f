import { resolve } from "node:path";
import type { Environment, Override } from "./environment.ts";
import { fileSchema } from "./file-schema.ts";
import type { ReportProblem } from "./problems.ts";
import { versionOf } from "./watch.ts";
import { readYaml } from "./yaml.ts";
import { isObject } from "../lib/json.ts";

/** The configuration file as written, without defaults or overrides. */
export interface WrittenFile {
  /** Name under which the file was given; null when there is no file. */
  name: string | null;
  /** Absolute path of the file. Also set when there is no file. */
  path: string;
  /** Version of the content: it changes when the content changes. */
  version: string;
  content: Record<string, unknown>;
  /** Ids under `channels`, including invalid entries. */
  channelIds: string[];
  /** Ids under `models`, including invalid entries. */
  modelIds: string[];
}

const DEFAULT_NAME = "gateway.yaml";

/** Returns the reason why a file could not be read, and the remedy, by the system's error code. */
function unreadable(code: string): string {
  if (code === "EISDIR") return "is a folder: name a file by --config or GATEWAY_CONFIG";
  if (code === "ENOENT") return "is not there: name an existing file by --config or GATEWAY_CONFIG";
  return `cannot be read (${code}): let this user read it`;
}

/** Reads the file that the options or `GATEWAY_CONFIG` specify, or `gateway.yaml` if it exists. */
export async function readConfigurationFile(
  options: { env: Environment; cwd: string; configPath?: string },
  report: ReportProblem,
): Promise<WrittenFile> {
  const named = options.configPath ?? (options.env["GATEWAY_CONFIG"] || undefined);
  const name = named ?? DEFAULT_NAME;
  const path = resolve(options.cwd, name);
  const read = await Bun.file(path)
    .text()
    .then((text) => ({ text }))
    .catch(({ code = "unknown" }: { code?: string }) => ({ code }));
  if ("code" in read) {
    if (named !== undefined || read.code !== "ENOENT") report(name, unreadable(read.code));
    return { name: null, path, version: versionOf(null), content: {}, channelIds: [], modelIds: [] };
  }
  const { text } = read;
  const version = versionOf(text);
  const content = parseMapping(name, text, report);
  const keysOf = (section: unknown): string[] => (isObject(section) ? Object.keys(section) : []);
  const { channels, models } = content;
  return { name, path, version, content, channelIds: keysOf(channels), modelIds: keysOf(models) };
}

/** Returns a copy of the content in which the settings of environment variables replace the settings of the file. */
export function withOverrides(
  content: Readonly<Record<string, unknown>>,
  overrides: readonly Override[],
): Record<string, unknown> {
  let result: Record<string, unknown> = { ...content };
  for (const { path, value } of overrides) result = withValue(result, path, value);
  return result;
}

/**
 * Returns a copy without the parts that the schema refuses, so that the remaining parts can be checked in the same run.
 * A channel or model loses only its invalid fields; if one of these fields is required, the whole entry is left out.
 */
export function withoutInvalid(content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const valid = Object.entries(content).map(([key, value]): [string, unknown] =>
    (key === "channels" || key === "models") && isObject(value)
      ? [key, validEntries(key, value)]
      : [key, value],
  );
  return Object.fromEntries(valid.filter(([key, value]) => isValid({ [key]: value })));
}

function validEntries(
  section: "channels" | "models",
  entries: Record<string, unknown>,
): Record<string, unknown> {
  const required = section === "channels" ? { provider: "any" } : {};
  const isUsable = (id: string, entry: unknown): boolean => isValid({ [section]: { [id]: entry } });
  const reduced = Object.entries(entries).map(([id, entry]): [string, unknown] => {
    const fields = isObject(entry) ? Object.entries(entry) : [];
    return [
      id,
      Object.fromEntries(fields.filter(([name, value]) => isUsable(id, { ...required, [name]: value }))),
    ];
  });
  return Object.fromEntries(reduced.filter(([id, entry]) => isUsable(id, entry)));
}

function isValid(content: Record<string, unknown>): boolean {
  return fileSchema.safeParse(content).success;
}

function parseMapping(name: string, text: string, report: ReportProblem): Record<string, unknown> {
  const { value, problems } = readYaml(text);
  for (const { line, column, message } of problems) report(`${name}:${line}:${column}`, message);
  if (isObject(value)) return value;
  const isEmpty = value === null || value === undefined;
  if (!isEmpty) report(name, "must be a mapping of settings, such as server: {port: 8080}");
  return {};
}

function withValue(
  content: Readonly<Record<string, unknown>>,
  [key = "", ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (rest.length === 0) return { ...content, [key]: value };
  const inner = content[key];
  return { ...content, [key]: withValue(isObject(inner) ? inner : {}, rest, value) };
}
