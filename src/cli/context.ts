import { hostname } from "node:os";
import type { Command } from "commander";
import type { Configuration, StoredEntry } from "../admin/configuration-ports.ts";
import type { OperationContext } from "../admin/context.ts";
import type { AdminStore } from "../admin/ports.ts";
import {
  loadSettings,
  type Environment,
  type LoadedSettings,
  type ProviderSchemas,
  type Settings,
} from "../config/index.ts";
import { systemClock } from "../lib/clock.ts";
import { formatTable, type Row } from "./table.ts";

/** Loads the configuration anew, with these entries of the database; with none where absent. */
type LoadConfiguration = (stored?: readonly StoredEntry[]) => Promise<LoadedSettings>;

/** What the command line needs from the program around it. */
export interface CliContext {
  /** Runs the gateway until it is stopped. */
  serve(loaded: LoadedSettings, load: LoadConfiguration): Promise<void>;
  /** Runs jobs, and serves no requests, until it is stopped. */
  runWorker(loaded: LoadedSettings, load: LoadConfiguration): Promise<void>;
  /** Opens the database for administration. */
  openAdmin(settings: Settings): Promise<{ store: AdminStore; close(): Promise<void> }>;
  /** The configuration for administration, over the loading of it. */
  openConfiguration(load: LoadConfiguration): Configuration;
  /** Brings the database to the newest form and names what was applied. */
  migrate(settings: Settings): Promise<{ applied: string[] }>;
  providers: ProviderSchemas;
  env: Environment;
  cwd: string;
  /** Name of the operating system's user, for the audit. */
  userName: string;
  /** Folder of the shipped catalogue; the project's own where absent. */
  catalogueDirectory?: string;
  stdout: Output;
  stderr: Output;
}

export interface Output {
  write(text: string, onWritten?: (error?: Error | null) => void): unknown;
}

/** What a command's action works with. */
export interface CommandContext {
  context: CliContext;
  loadSettings: LoadConfiguration;
  /** Opens the store for the work and closes it after, whatever happens. */
  administer<Result>(work: (admin: OperationContext, settings: Settings) => Promise<Result>): Promise<Result>;
  /** Writes text as it is and waits until the reader has taken it, so that long output needs little memory. */
  write(text: string): Promise<void>;
  /** A line for people. */
  printLine(line: string): void;
  /** Writes warnings to the error output, one a line. */
  warn(warnings: LoadedSettings["warnings"]): void;
  /** The rows for people, or the value as JSON. */
  print(isJson: boolean | undefined, value: unknown, rows: readonly Row[]): void;
}

export function openCommandContext(context: CliContext, program: Command): CommandContext {
  const load: LoadConfiguration = (stored) =>
    loadSettings({
      env: context.env,
      cwd: context.cwd,
      providers: context.providers,
      configPath: program.opts<{ config?: string }>().config,
      catalogueDirectory: context.catalogueDirectory,
      stored,
    });
  return {
    context,
    loadSettings: load,
    async administer(work) {
      const declared = await load();
      const { store, close } = await context.openAdmin(declared.settings);
      try {
        const stored = await store.configuration.list();
        const { settings } = stored.length === 0 ? declared : await load(stored);
        const admin = {
          store,
          by: {
            actor: program.opts<{ actor?: string }>().actor ?? context.userName,
            source: `cli/${context.userName}@${hostname()}`,
          },
          clock: systemClock,
          catalogue: settings,
          configuration: context.openConfiguration(load),
        };
        return await work(admin, settings);
      } finally {
        await close();
      }
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        context.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    printLine: (line) => void context.stdout.write(`${line}\n`),
    warn(warnings) {
      for (const { path, message } of warnings) context.stderr.write(`warning: ${path} ${message}\n`);
    },
    print(isJson, value, rows) {
      context.stdout.write(isJson ? `${JSON.stringify(value, null, 2)}\n` : formatTable(rows));
    },
  };
}
