import { dirname, resolve } from "node:path";
import type { StoredEntry } from "../admin/configuration/store-port.ts";
import { programFolder } from "../lib/program-files.ts";
import { problemAt, readStrictly, type Problem } from "../domain/schema-problems.ts";
import { resolveReferences } from "./addresses.ts";
import { readCatalogue, shippedModels, type ShippedModel } from "./catalogue.ts";
import type { ProviderSchemas } from "./channels.ts";
import { describeSettings, type SettingRow } from "./describe.ts";
import {
  readBootstrap,
  readOverrides,
  RESTARTS_VARIABLE,
  WORKER_VARIABLE,
  type Environment,
} from "./environment.ts";
import { fileSchema, SYNONYMS } from "./file-schema.ts";
import { readConfigurationFile, withOverrides, withoutInvalid } from "./layers.ts";
import { readMasterKeys, type MasterKeys } from "./master-key.ts";
import { plainSettings } from "./plain-settings.ts";
import { ConfigurationError, isAtOrBelow, type ReportProblem } from "./problems.ts";
import type { SecretSource } from "./secret-reference.ts";
import type { SettingOrigin, Settings } from "./settings.ts";
import { buildTables, type Configured } from "./tables.ts";
import { findWarnings } from "./warnings.ts";

export interface LoadOptions {
  env: Environment;
  /** Folder that relative paths in the environment start from. */
  cwd: string;
  providers: ProviderSchemas;
  /** Path of the configuration file. Takes precedence over `GATEWAY_CONFIG`. */
  configPath?: string;
  /** Folder of the catalogue files; undefined for the shipped catalogue. */
  catalogueDirectory?: string;
  /** Channels and models of the database; undefined for none. */
  stored?: readonly StoredEntry[];
}

export interface LoadedSettings {
  settings: Settings;
  /** Origin of each effective setting, by the setting's path in the file: `server.port`. */
  origins: ReadonlyMap<string, SettingOrigin>;
  /** The effective settings for display, with secrets masked. */
  rows: readonly SettingRow[];
  configured: Configured;
  masterKeys: MasterKeys;
  /** Valid settings that are probably mistakes. */
  warnings: readonly Problem[];
  /** Absolute path of the configuration file, even of a missing file. `version` is a hash of the loaded content. */
  file: { path: string; version: string };
}

/**
 * Reads the file, the environment, the database's entries and the catalogue into settings. Precedence: environment,
 * file, database, catalogue; for channels, the file comes first. Throws a `ConfigurationError` with every problem
 * found. A problem in an entry of the database causes only a warning; the entry, or its invalid part, is left out.
 */
export async function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  const problems: Problem[] = [];
  // A problem is not reported when a problem at or below its path is known, because the known problem may be the cause.
  const report: ReportProblem = (path, words) => {
    if (!problems.some((known) => isAtOrBelow(known.path, path))) problems.push(problemAt(path, words));
  };
  const file = await readConfigurationFile(options, report);
  const overrides = readOverrides(options.env, report);
  const bootstrap = readBootstrap(options.env, report);
  const directory = file.name === null ? options.cwd : dirname(resolve(options.cwd, file.name));
  const secrets: SecretSource = { env: options.env, directory };
  problems.push(...problemsIn(file.content), ...problemsOfOverrides(withOverrides({}, overrides), overrides));
  const effective = fileSchema.parse(withoutInvalid(withOverrides(file.content, overrides)));
  const { port, metrics_port: metricsPort } = effective.server;
  if (metricsPort !== null && metricsPort === port)
    report("server.metrics_port", "must differ from server.port");
  const catalogue = await readCatalogue(options.catalogueDirectory ?? SHIPPED_CATALOGUE, report);
  // Relative paths in the environment start from the working folder, relative paths in the file from the file's folder.
  const base = overrides.some(({ variable }) => variable === "GATEWAY_DATA_DIR") ? options.cwd : directory;
  const dataDirectory = resolve(base, effective.data_dir);
  const masterKeys = await readMasterKeys(effective, secrets, dataDirectory, report);
  const layers = {
    ...options,
    stored: options.stored ?? [],
    effective,
    file,
    catalogue,
    secrets,
    masterKeys,
  };
  const { isSandboxOn, configured, ...tables } = await buildTables(layers, report);
  const { metricsToken, ...references } = await resolveReferences(effective, secrets, report);
  if (problems.length > 0) throw new ConfigurationError(problems);
  effective.sandbox.enabled = isSandboxOn;
  const settings: Settings = {
    ...plainSettings(effective, { isSandboxOn, metricsToken }),
    ...references,
    ...tables,
    dataDirectory,
    bootstrap,
    ...workerOf(options.env),
  };
  const described = {
    ...layers,
    overrides,
    settings,
    configured,
    fileName: file.name,
    written: file.content,
  };
  return {
    settings,
    ...describe(described),
    configured,
    masterKeys,
    file: { path: file.path, version: file.version },
  };
}

/** Returns the settings for display, each with its origin, and the warnings about probable mistakes. */
function describe(
  sources: Parameters<typeof describeSettings>[0] & Pick<Parameters<typeof findWarnings>[0], "catalogue">,
): Pick<LoadedSettings, "origins" | "rows" | "warnings"> {
  const { settings, configured } = sources;
  const rows = describeSettings(sources);
  const warnings = findWarnings({
    ...sources,
    channels: new Set(settings.channels.keys()),
    routes: settings.routes,
    proxy: settings.outbound.proxy,
    databaseUrl: settings.databaseUrl,
  });
  return {
    rows,
    origins: new Map(rows.map(({ path, origin }) => [path, origin])),
    warnings: [...warnings, ...configured.problems],
  };
}

/** Returns the models of the shipped catalogue by id. */
export async function readShippedModels(directory = SHIPPED_CATALOGUE): Promise<Map<string, ShippedModel>> {
  return shippedModels(await readCatalogue(directory, () => {}));
}

const SHIPPED_CATALOGUE = programFolder("catalogue");

function workerOf(env: Environment): Pick<Settings, "worker" | "restarts"> {
  return { worker: Number(env[WORKER_VARIABLE]) || null, restarts: Number(env[RESTARTS_VARIABLE]) || 0 };
}

function problemsIn(content: unknown): Problem[] {
  const result = readStrictly(fileSchema, content, { noun: "setting", synonyms: SYNONYMS });
  return "problems" in result ? result.problems : [];
}

/** Returns the problems of values that the environment sets, each under the name of its variable. */
function problemsOfOverrides(content: unknown, overrides: ReturnType<typeof readOverrides>): Problem[] {
  return problemsIn(content).map(({ path, message }) => {
    const override = overrides.find((candidate) => path.startsWith(candidate.path.join(".")));
    return { path: override?.variable ?? path, message };
  });
}
