import type { ZodType } from "zod";
import type { Channel, Timeouts } from "../domain/channel.ts";
import { camelCase, snakeCase } from "../lib/casing.ts";
import { formatPath, knownKeys, readStrictly } from "../lib/schema-problems.ts";
import { didYouMean } from "../lib/suggest.ts";
import type { CatalogueFile } from "./catalogue.ts";
import { NO_CREDENTIAL, type FileChannel } from "./channel-schema.ts";
import type { Report } from "./problems.ts";
import {
  isSecretName,
  isSecretReference,
  LITERAL_SECRET,
  resolveSecret,
  type SecretSource,
} from "./secret-reference.ts";

/** The provider adapters that exist, with the shape of their settings. */
export type ProviderSchemas = ReadonlyMap<string, { settings: ZodType }>;

interface ChannelSources {
  declared: Readonly<Record<string, FileChannel>>;
  catalogue: readonly CatalogueFile[];
  providers: ProviderSchemas;
  secrets: SecretSource;
  /** Settings that go to every channel of a provider, such as the sandbox's pace. */
  extraSettings: Readonly<Record<string, Record<string, unknown>>>;
  /** Whether the built-in sandbox has its channel. */
  isSandboxOn: boolean;
}

/** The provider without a vendor: it generates everything itself. */
export const SANDBOX = "sandbox";

/**
 * Every usable channel: those of the file, and those of the catalogue whose credential is set. A declared channel
 * replaces the catalogue's of the same id.
 */
export async function buildChannels(sources: ChannelSources, report: Report): Promise<Map<string, Channel>> {
  const channels = new Map<string, Channel>();
  const all = { ...catalogueChannels(sources), ...sources.declared };
  for (const [id, declared] of Object.entries(all)) {
    const channel = await buildChannel(id, declared, sources, report);
    if (channel) channels.set(id, channel);
  }
  return channels;
}

/** The catalogue's channels that are enabled, in the form of the file. */
export function catalogueChannels(
  sources: Pick<ChannelSources, "catalogue" | "secrets" | "extraSettings" | "isSandboxOn">,
): Record<string, FileChannel> {
  const channels: Record<string, FileChannel> = {};
  const { env } = sources.secrets;
  for (const { provider, channel } of sources.catalogue) {
    const { credentialVariable: variable, baseUrlVariable, regionVariable } = channel;
    const region = regionVariable === null ? "" : env[regionVariable];
    if (provider === SANDBOX && !sources.isSandboxOn) continue;
    if (variable !== null && !env[variable]) continue;
    if (baseUrlVariable !== null && !env[baseUrlVariable]) continue;
    channels[channel.id] = {
      provider,
      base_url: baseUrlVariable === null ? channel.baseUrl : env[baseUrlVariable],
      credential: variable === null ? undefined : { env: variable },
      settings: { ...channel.settings, ...sources.extraSettings[provider] },
      ...(region && { region }),
      ...(channel.isOwnServer && { own_server: true }),
    };
  }
  return channels;
}

async function buildChannel(
  id: string,
  declared: FileChannel,
  sources: ChannelSources,
  report: Report,
): Promise<Channel | null> {
  const path = formatPath(["channels", id]);
  const provider = sources.providers.get(declared.provider);
  if (!provider) {
    const names = [...sources.providers.keys()];
    const suggestion = didYouMean(declared.provider, names) || `; there are ${names.join(", ")}`;
    report(`${path}.provider`, `"${declared.provider}" is not a known provider${suggestion}`);
    return null;
  }
  const settings = await assembleSettings(path, declared, provider.settings, sources.secrets, report);
  if (!settings) return null;
  return {
    id,
    provider: declared.provider,
    settings,
    timeouts: declared.deadlines && toTimeouts(declared.deadlines),
    maxConcurrent: declared.max_concurrent,
    ...(declared.own_server && { isOwnServer: true }),
  };
}

/** The provider's own settings, checked by its schema; null when a problem was reported. */
async function assembleSettings(
  path: string,
  declared: FileChannel,
  schema: ZodType,
  secrets: SecretSource,
  report: Report,
): Promise<object | null> {
  let isSound = true;
  const refuse: Report = (where, message) => {
    isSound = false;
    report(where, message);
  };
  const settings: Record<string, unknown> = {};
  const resolve = async (where: string, value: unknown): Promise<unknown> => {
    if (!isSecretReference(value)) return value;
    const resolved = await resolveSecret(value, secrets);
    if ("secret" in resolved) return resolved.secret;
    refuse(where, resolved.problem);
    return undefined;
  };
  for (const [location, value] of locatedSettings(declared)) {
    const where = `${path}.${location.path}`;
    if (location.path === "credential" && value === NO_CREDENTIAL) settings[location.name] = null;
    else if (typeof value === "string" && isSecretName(location.path)) refuse(where, LITERAL_SECRET);
    else if (location.path === "headers")
      settings[location.name] = await resolveHeaders(where, Object(value), resolve, refuse);
    else settings[location.name] = await resolve(where, value);
  }
  const known = knownKeys(schema);
  for (const [location] of locatedSettings(declared)) {
    if (known.length === 0 || known.includes(location.name)) continue;
    const suggestion = didYouMean(location.name, known).replace(
      /"(.*)"/,
      (_, name: string) => `"${snakeCase(name)}"`,
    );
    refuse(
      `${path}.${location.path}`,
      `is not a setting of the provider "${declared.provider}"${suggestion}`,
    );
  }
  const result = readStrictly(schema, settings);
  if (!("problems" in result)) return isSound ? Object(result.value) : null;
  for (const problem of result.problems)
    if (!problem.message.startsWith("is not a known"))
      report(`${path}.${filePath(problem.path)}`, problem.message);
  return null;
}

/** Headers with their secrets. One whose name is that of a secret must hold a reference. */
async function resolveHeaders(
  path: string,
  headers: Readonly<Record<string, unknown>>,
  resolve: (where: string, value: unknown) => Promise<unknown>,
  refuse: Report,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    const where = `${path}.${formatPath([name])}`;
    if (typeof value === "string" && SECRET_HEADER.test(name)) refuse(where, LITERAL_SECRET);
    else resolved[name] = await resolve(where, value);
  }
  return resolved;
}

const SECRET_HEADER = /authorization|cookie|key$|token$|secret$|password$/i;

interface SettingLocation {
  /** In the file, below the channel. */
  path: string;
  /** In the provider's settings. */
  name: string;
}

/** Keys of a channel beside `settings` that the provider reads as settings, too. */
const BESIDE: readonly SettingLocation[] = [
  { path: "base_url", name: "baseUrl" },
  { path: "credential", name: "apiKey" },
  { path: "headers", name: "headers" },
  { path: "region", name: "region" },
];

function locatedSettings(declared: FileChannel): [SettingLocation, unknown][] {
  const beside: Readonly<Record<string, unknown>> = declared;
  return [
    ...Object.entries(declared.settings).map(([key, value]): [SettingLocation, unknown] => [
      { path: `settings.${key}`, name: camelCase(key) },
      value,
    ]),
    ...BESIDE.map((location): [SettingLocation, unknown] => [location, beside[location.path]]),
  ].filter(([, value]) => value !== undefined);
}

/** Path of a provider's setting in the file. */
function filePath(path: string): string {
  return BESIDE.find((location) => location.name === path)?.path ?? `settings.${snakeCase(path)}`;
}

function toTimeouts(timeouts: NonNullable<FileChannel["deadlines"]>): Partial<Timeouts> {
  const { first_byte_ms: firstByteMs, idle_ms: idleMs, total_ms: totalMs } = timeouts;
  return {
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(idleMs !== undefined && { idleMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}
