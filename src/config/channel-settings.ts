import type { ZodType } from "zod";
import { camelCase, snakeCase } from "../lib/casing.ts";
import { formatPath, knownKeys, readStrictly } from "../domain/schema-problems.ts";
import { isSecretHeader, isSecretName } from "../lib/secret-names.ts";
import { meantBy } from "../lib/suggest.ts";
import { NO_CREDENTIAL, type DeclaredChannel } from "./channel-schema.ts";
import type { ReportShown } from "./problems.ts";
import { isSecretReference, OpenedSecret, resolveSecret, type SecretSource } from "./secret-reference.ts";
import { operatorMessage } from "../domain/operator-message.ts";

/**
 * Returns the settings for the channel's provider, checked by the provider's schema. Returns null after it has reported
 * a problem.
 */
export async function assembleSettings(
  path: string,
  declared: DeclaredChannel,
  schema: ZodType,
  secrets: SecretSource,
  report: ReportShown,
): Promise<object | null> {
  let isValid = true;
  const refuse: ReportShown = (where, words) => {
    isValid = false;
    report(where, words);
  };
  const settings: Record<string, unknown> = {};
  const resolve = async (where: string, value: unknown): Promise<unknown> => {
    if (value instanceof OpenedSecret) return value.text;
    if (!isSecretReference(value)) return value;
    const resolved = await resolveSecret(value, secrets);
    if ("secret" in resolved) return resolved.secret;
    refuse(where, resolved.problem);
    return undefined;
  };
  for (const [location, value] of locatedSettings(declared)) {
    const where = `${path}.${location.path}`;
    if (location.path === "credential" && value === NO_CREDENTIAL) settings[location.name] = null;
    else if (typeof value === "string" && isSecretName(location.path))
      refuse(where, operatorMessage("input.secret.plain", {}));
    else if (location.path === "headers")
      settings[location.name] = await resolveHeaders(where, Object(value), resolve, refuse);
    else settings[location.name] = await resolve(where, value);
  }
  const known = knownKeys(schema);
  for (const [location] of locatedSettings(declared)) {
    if (known.length === 0 || known.includes(location.name)) continue;
    const similar = meantBy(location.name, known);
    const suggestion = similar && { meant: snakeCase(similar.meant) };
    const words = operatorMessage("input.providerSetting", { provider: declared.provider, ...suggestion });
    refuse(`${path}.${location.path}`, words);
  }
  const result = readStrictly(schema, settings);
  if (!("problems" in result)) return isValid ? Object(result.value) : null;
  for (const problem of result.problems)
    if (problem.code !== "input.unknown") report(`${path}.${filePath(problem.path)}`, problem);
  return null;
}

/** Returns the headers with resolved secrets. Headers commonly used for secrets must be given as references. */
async function resolveHeaders(
  path: string,
  headers: Readonly<Record<string, unknown>>,
  resolve: (where: string, value: unknown) => Promise<unknown>,
  refuse: ReportShown,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    const where = `${path}.${formatPath([name])}`;
    if (typeof value === "string" && isSecretHeader(name))
      refuse(where, operatorMessage("input.secret.plain", {}));
    else resolved[name] = await resolve(where, value);
  }
  return resolved;
}

interface SettingLocation {
  /** Path of the setting in the file, below the channel. */
  path: string;
  /** Name of the setting in the provider's settings. */
  name: string;
}

/** Keys of a channel that are written outside `settings`, although the provider reads them as settings. */
const BESIDE: readonly SettingLocation[] = [
  { path: "base_url", name: "baseUrl" },
  { path: "credential", name: "apiKey" },
  { path: "headers", name: "headers" },
  { path: "region", name: "region" },
];

function locatedSettings(declared: DeclaredChannel): [SettingLocation, unknown][] {
  const beside: Readonly<Record<string, unknown>> = declared;
  return [
    ...Object.entries(declared.settings).map(([key, value]): [SettingLocation, unknown] => [
      { path: `settings.${key}`, name: camelCase(key) },
      value,
    ]),
    ...BESIDE.map((location): [SettingLocation, unknown] => [location, beside[location.path]]),
  ].filter(([, value]) => value !== undefined);
}

/** Returns the path of a provider's setting in the file. */
function filePath(path: string): string {
  const [name = "", ...below] = path.split(".");
  const beside = BESIDE.find((location) => location.name === name);
  return beside ? [beside.path, ...below].join(".") : `settings.${snakeCase(path)}`;
}
