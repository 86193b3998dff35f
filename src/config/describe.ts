import type { Route } from "../domain/channel.ts";
import { formatPath } from "../domain/schema-problems.ts";
import type { FileSettings } from "./file-schema.ts";
import type { Environment, Override } from "./environment.ts";
import type { ConfiguredModel, EntryOrigin } from "../admin/configuration/store-port.ts";
import type { SettingOrigin, Settings } from "./settings.ts";
import type { Configured } from "./tables.ts";
import { isSecretReference, type SecretReference } from "./secret-reference.ts";

/** One effective setting for display. A secret is shown as the name of its variable or file, or is masked. */
export interface SettingRow {
  /** Path of the setting in the configuration file: `server.port`. */
  path: string;
  value: string;
  origin: SettingOrigin;
  /** Variable or file that sets the value; null when neither sets it. */
  from: string | null;
}

interface DescriptionSources {
  effective: FileSettings;
  configured: Configured;
  /** Content of the file as written, without defaults. */
  written: unknown;
  /** Name of the file; null when there is none. */
  fileName: string | null;
  overrides: readonly Override[];
  env: Environment;
  settings: Settings;
}

/** Returns every effective setting with its origin. Each channel and each model is one row. */
export function describeSettings(sources: DescriptionSources): SettingRow[] {
  const { channels: _, models: __, $schema: ___, ...plain } = sources.effective;
  return [
    ...leaves(plain, []).map(({ path, value }) => plainRow(path, value, sources)),
    ...bootstrapRows(sources.env),
    ...channelRows(sources),
    ...modelRows(sources),
  ];
}

function plainRow(path: string[], value: unknown, sources: DescriptionSources): SettingRow {
  const override = sources.overrides.find((candidate) =>
    candidate.path.every((key, index) => path[index] === key),
  );
  const shown = { path: formatPath(path), value: showValue(value) };
  if (override) return { ...shown, origin: "environment", from: override.variable };
  if (isWritten(sources.written, path)) return { ...shown, origin: "file", from: sources.fileName };
  return { ...shown, origin: "default", from: null };
}

function bootstrapRows(env: Environment): SettingRow[] {
  return ["GATEWAY_BOOTSTRAP_KEY", "GATEWAY_ADMIN_PASSWORD"].map((variable) => ({
    path: variable === "GATEWAY_BOOTSTRAP_KEY" ? "bootstrap.key" : "bootstrap.administrator_password",
    value: env[variable] ? MASK : "(generated on the first start)",
    origin: env[variable] ? ("environment" as const) : ("default" as const),
    from: env[variable] ? variable : null,
  }));
}

function channelRows({ settings, configured, fileName }: DescriptionSources): SettingRow[] {
  return [...settings.channels.values()].map((channel) => {
    const { origin, declared } = configured.channels.get(channel.id) ?? {};
    const { credential, base_url: baseUrl } = { ...declared };
    const reference = isSecretReference(credential) ? credential : null;
    const shownCredential = reference ? `, credential ${showReference(reference)}` : "";
    const address = typeof baseUrl === "string" ? `, ${baseUrl}` : "";
    const variable = reference && "env" in reference ? reference.env : null;
    return {
      path: formatPath(["channels", channel.id]),
      value: `${channel.provider}${address}${shownCredential}`,
      origin: originOf(origin),
      from: origin === "file" ? fileName : variable,
    };
  });
}

function originOf(origin: EntryOrigin | undefined): SettingOrigin {
  return origin === undefined || origin === "catalogue" ? "default" : origin;
}

function modelRows({ settings, fileName, configured }: DescriptionSources): SettingRow[] {
  return [...settings.models.declared.values()].map((model) => {
    const { origin, declared } = configured.models.get(model.id) ?? {};
    const route = settings.routes.get(model.id);
    const kind = model.type === "image" ? `image, family ${model.family}` : model.type;
    const price = settings.prices.has(model.id) ? "" : showPrices(declared);
    return {
      path: formatPath(["models", model.id]),
      value: `${kind}, ${model.isRetired ? "retired" : showRoute(route)}${price}`,
      origin: originOf(origin),
      from: origin === "file" ? fileName : null,
    };
  });
}

/** Returns a text with the number of names for which a model has prices. Used when the model itself has no price. */
function showPrices(declared: ConfiguredModel["declared"] | undefined): string {
  const count = Object.keys(Object(declared?.["prices"])).length;
  return count === 0 ? ", no price" : `, prices of ${count} ${count === 1 ? "name" : "names"}`;
}

/** Returns a route as text: `a then b` in the order of the calls, or `a 90 %, b 10 %` by weight. */
function showRoute(route: Route | undefined): string {
  const { strategy, targets } = route ?? { strategy: "ordered", targets: [] };
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  const shown = targets.map(({ channel, upstreamModel, weight }) => {
    const name = `${channel.id}/${upstreamModel}`;
    return strategy === "weighted" && targets.length > 1
      ? `${name} ${Math.round((1000 * weight) / total) / 10} %`
      : name;
  });
  return shown.join(strategy === "weighted" ? ", " : " then ");
}

const MASK = "********";

function showValue(value: unknown): string {
  if (value === null) return "(none)";
  if (isSecretReference(value)) return `${MASK} ${showReference(value)}`;
  return Array.isArray(value) ? value.join(", ") || "(none)" : String(value);
}

function showReference(reference: SecretReference): string {
  return "env" in reference ? `from variable ${reference.env}` : `from file ${reference.file}`;
}

function leaves(value: unknown, path: string[]): { path: string[]; value: unknown }[] {
  const isBranch =
    typeof value === "object" && value !== null && !Array.isArray(value) && !isSecretReference(value);
  return isBranch
    ? Object.entries(value).flatMap(([key, child]) => leaves(child, [...path, key]))
    : [{ path, value }];
}

function isWritten(written: unknown, path: readonly string[]): boolean {
  let node = written;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return false;
    node = Object.entries(node).find(([name]) => name === key)?.[1];
  }
  return true;
}
