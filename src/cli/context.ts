import { hostname } from "node:os";
import type { Command } from "commander";
import type { Configuration, StoredEntry } from "../admin/configuration/store-port.ts";
import type { OperationContext } from "../admin/context.ts";
import type { AdminStore } from "../admin/admin-store.ts";
import {
  loadSettings,
  type Environment,
  type LoadedSettings,
  type ProviderSchemas,
  type Settings,
} from "../config/index.ts";
import { systemClock } from "../lib/clock.ts";
import type { Progress } from "../lib/progress.ts";
import type { BackupManifest, restoreBackup } from "../storage/backup/index.ts";
import {
  localAdministration,
  remoteAdministration,
  type CommandAdministration,
  type CommandInput,
  type ListItem,
  type ListCommandName,
} from "./administration.ts";
import { openPrinter, type CommandPrinter, type TextOutput } from "./printer.ts";
import type { RemoteGateway } from "./remote.ts";
import { readSecret } from "./secret-source.ts";

export type { CommandInput, CommandOutput } from "./administration.ts";

/** Loads the configuration. `stored` contains the entries of the database, by default none. */
type LoadConfiguration = (stored?: readonly StoredEntry[]) => Promise<LoadedSettings>;

/** Functions and values that the program gives to the command line. */
export interface CliContext {
  /** Runs the gateway until it is stopped. */
  serve(loaded: LoadedSettings, load: LoadConfiguration): Promise<void>;
  /** Runs jobs until it is stopped, and serves no requests. */
  runWorker(loaded: LoadedSettings, load: LoadConfiguration): Promise<void>;
  /**
   * Opens the database for administration. A database that does not exist is made; with `mustExist`, this is an error.
   */
  openAdminStore(
    settings: Settings,
    options: { mustExist: boolean },
  ): Promise<{ store: AdminStore; close(): Promise<void> }>;
  /** Returns the channels and models that the database declares. Rejects when the database cannot be read. */
  readStoredEntries(settings: Settings): Promise<readonly StoredEntry[]>;
  /** Returns the configuration, loaded by `load`, for administration. */
  openConfiguration(load: LoadConfiguration): Configuration;
  /** Migrates the database to the newest schema and returns the names of the applied migrations. */
  migrate(settings: Settings, onProgress: Progress): Promise<{ applied: string[] }>;
  /** Fills an empty installation with example traffic. */
  fillDemo(
    settings: Settings,
    admin: Omit<OperationContext, "store">,
    onProgress: Progress,
  ): Promise<DemoFilled>;
  /** Writes a backup to a path. */
  backUp(loaded: LoadedSettings, path: string, onProgress: Progress): Promise<BackupManifest>;
  /** Restores the backup at a path. */
  restore: (
    loaded: LoadedSettings,
    path: string,
    options: { isForced: boolean; onProgress: Progress },
  ) => ReturnType<typeof restoreBackup>;
  providers: ProviderSchemas;
  env: Environment;
  cwd: string;
  /** Returns the name of the operating system's user, for the audit. */
  userName(): string;
  /** Folder of the catalogue; by default the folder of the shipped catalogue. */
  catalogueDirectory?: string;
  stdout: TextOutput;
  stderr: TextOutput;
}

/** The result of the command `demo`. */
export interface DemoFilled {
  requests: number;
  /** Password of the new administrator; null when there already was an administrator. */
  password: string | null;
}

/** Methods that run operations or use the local store. */
export interface StoreAccess {
  /** Runs `work` with operations on the local store, or at the remote gateway if there is one. */
  connect<Result>(work: (administration: CommandAdministration) => Promise<Result>): Promise<Result>;
  run: CommandAdministration["run"];
  list<Name extends ListCommandName>(name: Name, input: CommandInput<Name>): Promise<ListItem<Name>[]>;
  /** Runs `work` on the local store and then closes the store. Throws when `isRemote()` is true. */
  administer<Result>(work: (admin: OperationContext) => Promise<Result>): Promise<Result>;
}

/**
 * Everything that a command's action needs. Methods of this object make the database if it does not exist; the methods
 * of `existing` do not.
 */
export interface CommandContext extends StoreAccess, CommandPrinter {
  context: CliContext;
  loadSettings: LoadConfiguration;
  /**
   * Methods that throw if the database does not exist. A result from a new, empty database would hide a wrong location
   * in the settings.
   */
  existing: StoreAccess;
  /** True when commands work on the remote gateway that `--url` or `GATEWAY_URL` names. */
  isRemote(): boolean;
  /** Throws when the option `--url` is set. For commands that work only on this machine. */
  requireLocal(): void;
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
  const remote = () => remoteOf(context, program);
  let token: Promise<string> | undefined;
  const openToken = () => (token ??= readToken(context, program));
  const access = (mustExist: boolean): StoreAccess => {
    const administer: StoreAccess["administer"] = async (work) => {
      if (remote()) throw new Error(ONLY_LOCAL);
      const declared = await load();
      const { store, close } = await context.openAdminStore(declared.settings, { mustExist });
      try {
        const stored = await store.configuration.list();
        const { settings } = stored.length === 0 ? declared : await load(stored);
        const user = context.userName();
        const actor = program.opts<{ actor?: string }>().actor ?? user;
        const by = { actor, source: `cli/${user}@${hostname()}` };
        const configuration = context.openConfiguration(load);
        return await work({ store, by, clock: systemClock, catalogue: settings, configuration });
      } finally {
        await close();
      }
    };
    const connect: StoreAccess["connect"] = async (work) => {
      const gateway = remote();
      if (gateway) return await work(remoteAdministration({ ...gateway, token: await openToken() }));
      return await administer((admin) => work(localAdministration(admin)));
    };
    return {
      administer,
      connect,
      run: (...operation) => connect(({ run }) => run(...operation)),
      list: (name, input) => connect((administration) => administration.list(name, input)),
    };
  };
  return {
    context,
    loadSettings: load,
    ...access(false),
    existing: access(true),
    isRemote: () => remote() !== null,
    requireLocal() {
      if (program.opts<{ url?: string }>().url === undefined) return;
      throw new Error(ONLY_LOCAL);
    },
    ...openPrinter(context),
  };
}

const ONLY_LOCAL = "this command works on the local machine: leave --url and GATEWAY_URL out";

/** Returns the gateway that the options or the environment name; null for the local store. */
function remoteOf({ env }: CliContext, program: Command): Pick<RemoteGateway, "url"> | null {
  const url = program.opts<{ url?: string }>().url ?? env["GATEWAY_URL"];
  if (!url) return null;
  if (!URL.canParse(url)) throw new Error(`--url must be an address such as https://gateway.example.com`);
  return { url };
}

async function readToken({ env }: CliContext, program: Command): Promise<string> {
  const { token: source } = program.opts<{ token?: string }>();
  const token = source === undefined ? env["GATEWAY_TOKEN"] : await readSecret(source, env);
  if (!token)
    throw new Error(
      "name an admin token with --token or GATEWAY_TOKEN; members make theirs at /console/settings/account",
    );
  // An admin token and a gateway key differ in their first characters.
  if (token.startsWith("ga_")) return token;
  throw new Error("an admin token begins with ga_; gk_ is a key for calls of models");
}
