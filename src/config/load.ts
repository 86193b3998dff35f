import { dirname, resolve } from "node:path";
import { readS3Address } from "../lib/s3-address.ts";
import { readStrictly, type Problem } from "../lib/schema-problems.ts";
import { readCatalogue, shippedModels, type CatalogueFile } from "./catalogue.ts";
import { buildChannels, catalogueChannels, SANDBOX, type ProviderSchemas } from "./channels.ts";
import { describeSettings, type SettingRow } from "./describe.ts";
import {
  readBootstrap,
  readOverrides,
  RESTARTS_VARIABLE,
  WORKER_VARIABLE,
  type Environment,
} from "./environment.ts";
import { fileSchema, hasScheme, SYNONYMS, type FileSettings } from "./file-schema.ts";
import { readConfigurationFile, withOverrides, withoutUnsound } from "./layers.ts";
import { buildModels } from "./models.ts";
import { plainSettings } from "./plain-settings.ts";
import { ConfigurationError, type Report } from "./problems.ts";
import { resolveSecret, type SecretSource } from "./secret-reference.ts";
import type { Origin, Settings } from "./settings.ts";
import { findWarnings } from "./warnings.ts";

export interface LoadOptions {
  env: Environment;
  /** Folder that relative paths of the environment start from. */
  cwd: string;
  providers: ProviderSchemas;
  /** Wins over `GATEWAY_CONFIG`. */
  configPath?: string;
  /** Folder of the shipped data files; the project's own where absent. */
  catalogueDirectory?: string;
}

export interface LoadedSettings {
  settings: Settings;
  /** Where each effective setting came from, by its path in the file: `server.port`. */
  origins: ReadonlyMap<string, Origin>;
  /** The same with values for display; secrets masked. */
  rows: readonly SettingRow[];
  /** What is valid and probably a mistake. */
  warnings: readonly Problem[];
  /** The configuration file, whether it exists or not: its absolute path, and its content at the time of loading. */
  file: { path: string; version: string };
}

/**
 * Reads the file, the environment and the catalogue into settings. The environment wins over the file, the
 * file over defaults. Throws a `ConfigurationError` with every problem found.
 */
export async function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  const problems: Problem[] = [];
  // What is missing inside a refused part is not reported again.
  const report: Report = (path, message) => {
    if (!problems.some((known) => isAtOrBelow(known.path, path))) problems.push({ path, message });
  };
  const file = await readConfigurationFile(options, report);
  const overrides = readOverrides(options.env, report);
  const bootstrap = readBootstrap(options.env, report);
  const directory = file.name === null ? options.cwd : dirname(resolve(options.cwd, file.name));
  const secrets: SecretSource = { env: options.env, directory };
  problems.push(...problemsIn(file.content), ...problemsOfOverrides(withOverrides({}, overrides), overrides));
  const effective = fileSchema.parse(withoutUnsound(withOverrides(file.content, overrides)));
  const catalogue = await readCatalogue(options.catalogueDirectory ?? SHIPPED_CATALOGUE, report);
  const sources = channelSources(catalogue, options.providers, effective, secrets);
  const channels = await buildChannels(sources, report);
  const tables = buildModels(
    {
      declared: effective.models,
      shipped: shippedModels(sources.catalogue),
      channels,
      declaredChannels: new Set(file.channelIds),
      isSandboxOn: sources.isSandboxOn,
    },
    report,
  );
  const addresses = await resolveAddresses(effective, secrets, report);
  const metricsToken = await resolveMetricsToken(effective, secrets, report);
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Paths of the environment are relative to the working folder, those of the file to the file.
  const base = overrides.some(({ variable }) => variable === "GATEWAY_DATA_DIR") ? options.cwd : directory;
  effective.sandbox.enabled = sources.isSandboxOn;
  const settings: Settings = {
    ...plainSettings(effective, { isSandboxOn: sources.isSandboxOn, metricsToken }),
    ...addresses,
    ...tables,
    dataDirectory: resolve(base, effective.data_dir),
    bootstrap,
    ...workerOf(options.env),
    channels,
  };
  const rows = describeSettings({
    effective: { ...effective, channels: { ...catalogueChannels(sources), ...effective.channels } },
    written: file.content,
    fileName: file.name,
    overrides,
    env: options.env,
    settings,
  });
  const warnings = findWarnings({
    env: options.env,
    catalogue,
    written: file.content,
    channels: new Set(channels.keys()),
    routes: settings.routes,
    proxy: settings.outbound.proxy,
  });
  const origins = new Map(rows.map(({ path, origin }) => [path, origin]));
  return { settings, origins, rows, warnings, file: { path: file.path, version: file.version } };
}

const SHIPPED_CATALOGUE = resolve(import.meta.dir, "../../catalogue");

function workerOf(env: Environment): Pick<Settings, "worker" | "restarts"> {
  return { worker: Number(env[WORKER_VARIABLE]) || null, restarts: Number(env[RESTARTS_VARIABLE]) || 0 };
}

function problemsIn(content: unknown): Problem[] {
  const result = readStrictly(fileSchema, content, { noun: "setting", synonyms: SYNONYMS });
  return "problems" in result ? result.problems : [];
}

function isAtOrBelow(path: string, ancestor: string): boolean {
  return path.startsWith(ancestor) && /^(?:$|[.[])/.test(path.slice(ancestor.length));
}

/** Problems of values from the environment, reported by the name of their variable. */
function problemsOfOverrides(content: unknown, overrides: ReturnType<typeof readOverrides>): Problem[] {
  return problemsIn(content).map(({ path, message }) => {
    const override = overrides.find((candidate) => path.startsWith(candidate.path.join(".")));
    return { path: override?.variable ?? path, message };
  });
}

function channelSources(
  catalogue: readonly CatalogueFile[],
  providers: ProviderSchemas,
  effective: FileSettings,
  secrets: SecretSource,
) {
  const pace = effective.sandbox.tokens_per_second;
  const sources = {
    declared: effective.channels,
    catalogue: catalogue.filter(({ provider }) => provider === SANDBOX || effective.catalogue.enabled),
    providers,
    secrets,
    extraSettings: { [SANDBOX]: pace === null ? {} : { tokens_per_second: pace } },
  };
  const configured = Object.values({
    ...catalogueChannels({ ...sources, isSandboxOn: false }),
    ...effective.channels,
  });
  const hasVendor = configured.some(({ provider }) => provider !== SANDBOX);
  return { ...sources, isSandboxOn: effective.sandbox.enabled ?? !hasVendor };
}

/** Addresses that may be references, because they may hold a password. */
async function resolveAddresses(effective: FileSettings, secrets: SecretSource, report: Report) {
  const read = async (
    path: "database_url" | "redis_url" | "blob_url",
    problemOf: (address: string) => string | null,
  ) => {
    const written = effective[path];
    if (written === null) return null;
    const isPlain = typeof written === "string";
    const resolved = isPlain ? { secret: written } : await resolveSecret(written, secrets);
    if ("problem" in resolved) {
      report(path, resolved.problem);
      return null;
    }
    const problem = problemOf(resolved.secret);
    if (problem !== null) report(!isPlain && "env" in written ? written.env : path, problem);
    return resolved.secret;
  };
  return {
    databaseUrl: await read("database_url", schemeProblem("postgres://host/database")),
    redisUrl: await read("redis_url", schemeProblem("redis://host:6379")),
    blobUrl: await read("blob_url", blobAddressProblem),
  };
}

async function resolveMetricsToken(
  { server }: FileSettings,
  secrets: SecretSource,
  report: Report,
): Promise<string | null> {
  if (server.metrics_token === null) return null;
  const resolved = await resolveSecret(server.metrics_token, secrets);
  if ("secret" in resolved) return resolved.secret;
  report("server.metrics_token", resolved.problem);
  return null;
}

/** Checked before the first start creates a key and a password, which a failure after that would never print. */
function blobAddressProblem(address: string): string | null {
  try {
    readS3Address(address);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

function schemeProblem(example: string) {
  return (address: string) => (hasScheme(address, example) ? null : `must be an address such as ${example}`);
}
