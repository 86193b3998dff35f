import { AdminError } from "../admin/admin-error.ts";
import { secretsOf } from "../admin/channels/entry.ts";
import type {
  Configuration,
  ConfigurationState,
  SecretStore,
  StoredEntry,
} from "../admin/configuration/store-port.ts";
import {
  ABSENT,
  associatedData,
  ConfigurationError,
  currentKey,
  ensureMasterKey,
  fileVersion,
  isReloadable,
  type LoadedSettings,
  type MasterKeys,
  mergeReloaded,
  openingKeys,
  readYaml,
  type Settings,
  watchFile,
  writeYaml,
} from "../config/index.ts";
import { type MasterKey, seal, sealedBy, unseal } from "../lib/seal.ts";
import type { BackgroundWork } from "../lib/waiting.ts";
import { describeProviders, listModels, probeChannel } from "../providers/registry.ts";

interface ReloadOptions {
  /** The settings at the start of the process. */
  loaded: LoadedSettings;
  /** Loads the configuration again. Throws a `ConfigurationError` for an invalid configuration. */
  load(): Promise<LoadedSettings>;
  /** Applies new settings to the running process. If this method throws, the earlier settings stay in force. */
  apply(settings: Settings): void;
  log(message: string, cause: unknown, level?: "info" | "warn"): void;
  /** Called with the outcome of each reload. */
  onOutcome(isOk: boolean): void;
}

interface Reloading extends BackgroundWork {
  /** Reloads the configuration now. Never rejects. */
  reload(): Promise<void>;
}

const REFUSED = "the configuration was not reloaded, the running one stays";

/** Reloads the configuration on SIGHUP and when the file changes. Only one reload runs at a time. */
export function reloadOnChange({ loaded, load, apply, log, onOutcome }: ReloadOptions): Reloading {
  let running = loaded;
  const refuse = (error: unknown): void => {
    onOutcome(false);
    log(REFUSED, error);
  };
  const reloadOnce = async (): Promise<void> => {
    try {
      const reload = mergeReloaded(running, await load());
      apply(reload.loaded.settings);
      running = reload.loaded;
      onOutcome(true);
      report(reload, log);
    } catch (error) {
      refuse(error);
    }
  };
  let last = Promise.resolve();
  const reload = (): Promise<void> => (last = last.then(reloadOnce));
  const onSignal = (): void => void reload();
  process.on("SIGHUP", onSignal);
  const watch = watchFile(loaded.file.path, loaded.file.version, reload, refuse);
  return {
    reload,
    async stop() {
      process.off("SIGHUP", onSignal);
      await watch.stop();
      await last;
    },
  };
}

function report(
  { loaded, changed, needsRestart }: ReturnType<typeof mergeReloaded>,
  log: ReloadOptions["log"],
): void {
  if (changed.length > 0) log(`configuration reloaded: ${listed(changed)}`, null, "info");
  else if (needsRestart.length > 0) log("configuration reloaded: nothing takes effect now", null, "info");
  else log(`configuration reloaded: ${sourcesOf(loaded)} have what is running already`, null, "info");
  if (needsRestart.length > 0) log(`takes effect at the next start: ${listed(needsRestart)}`, null);
  for (const { path, message } of loaded.warnings) log(`${path} ${message}`, null);
}

/** Returns a text with the sources that a reload reads. */
function sourcesOf({ file }: LoadedSettings): string {
  const path = file.version === ABSENT ? `the environment (there is no ${file.path})` : file.path;
  return `${path}, the secret files that it names and the database`;
}

const MAX_LISTED = 20;

function listed(paths: readonly string[]): string {
  const rest = paths.length - MAX_LISTED;
  return paths.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Loads the configuration from its files and from `stored`, the entries of the database. */
export type LoadConfiguration = (stored: readonly StoredEntry[]) => Promise<LoadedSettings>;

/**
 * Returns the configuration for administration. `apply` makes changes effective in this process. A command has no
 * `apply`, because running gateways detect its changes themselves.
 */
export function openConfiguration(
  load: LoadConfiguration,
  apply: (() => Promise<void>) | null = null,
): Configuration {
  const read = lastRead(load);
  const keys = async (): Promise<MasterKeys> => (await read(null)).masterKeys;
  const open: Configuration["unseal"] = async (name, { sealed }) =>
    unseal(openingKeys(await keys()), sealed, associatedData(name, name.field));
  const sealAnew: Configuration["seal"] = async (store, name, text) => {
    const key = await sealingKey(await keys(), { store, isCommand: apply === null });
    return { sealed: seal(key, text, associatedData(name, name.field)) };
  };
  let providers: ReturnType<typeof describeProviders> | null = null;
  return {
    apply: async () => await apply?.(),
    read: async (stored) => toState(await read(stored)),
    seal: sealAnew,
    unseal: open,
    async reseal(store, name, secret) {
      const text = await open(name, secret);
      return text === null ? null : await sealAnew(store, name, text);
    },
    readYaml,
    writeYaml,
    providers: () => (providers ??= describeProviders()),
    probe: probeChannel,
    models: listModels,
  };
}

/**
 * Returns a function that loads the configuration only when the entries or the file have changed. Loading the
 * configuration for every operation that only reads would delay requests by milliseconds. A caller that needs no
 * entries passes `null`. The function throws an `AdminError` while the file is invalid.
 */
function lastRead(load: LoadConfiguration) {
  let last: { entries: string; loaded: LoadedSettings } | null = null;
  return async (stored: readonly StoredEntry[] | null): Promise<LoadedSettings> => {
    const entries = stored && JSON.stringify(stored.map(({ kind, id, value }) => [kind, id, value]));
    const isSame = entries === null || entries === last?.entries;
    if (last && isSame && (await fileVersion(last.loaded.file.path)) === last.loaded.file.version)
      return last.loaded;
    try {
      last = { entries: entries ?? "", loaded: await load(stored ?? []) };
      return last.loaded;
    } catch (error) {
      if (error instanceof ConfigurationError) throw new AdminError(409, null, error.message);
      throw error;
    }
  };
}

function toState({ settings, configured, rows }: LoadedSettings): ConfigurationState {
  return {
    catalogue: settings,
    ...configured,
    settings: rows.map((row) => ({ ...row, isReloadable: isReloadable(row) })),
  };
}

/** The current settings. A reload replaces `current`; `limits` and `timeouts` always return the current values. */
export class LiveSettings {
  current: Settings;
  /** False when the newest configuration was refused and an earlier configuration is in force. */
  isNewest = true;
  readonly limits: Settings["limits"];
  readonly timeouts: Settings["timeouts"];

  constructor(settings: Settings) {
    this.current = settings;
    const now = (): Settings => this.current;
    this.limits = {
      get organization() {
        return now().limits.organization;
      },
      get key() {
        return now().limits.key;
      },
    };
    this.timeouts = {
      get text() {
        return now().timeouts.text;
      },
      get image() {
        return now().timeouts.image;
      },
    };
  }
}

/**
 * Returns the master key that encrypts a new secret: the current key, or a new key if there is no key and no secret is
 * stored. Throws an `AdminError` when secrets are stored and there is no current key. A command also throws when no
 * present key has encrypted a stored secret, because the gateway then could not decrypt the new secret.
 */
async function sealingKey(
  keys: MasterKeys,
  { store, isCommand }: { store: SecretStore; isCommand: boolean },
): Promise<MasterKey> {
  const current = currentKey(keys);
  if (current && !isCommand) return current;
  const stored = await keysInUse(store);
  const isKnown = openingKeys(keys).some(({ id }) => stored.has(id));
  if (stored.size === 0 || (current && isKnown)) return current ?? (await ensureMasterKey(keys));
  const present = current ? `the one here is ${current.id}` : "there is none here";
  const remedy = isCommand
    ? "set GATEWAY_MASTER_KEY as the gateway has it; where that key is lost, give the secret in the console or with --url, and the gateway seals it with its own"
    : "set GATEWAY_MASTER_KEY to that key, or to a new one where it is lost";
  throw new AdminError(
    409,
    null,
    `the stored secrets are sealed with master key ${[...stored].join(", ")}, and ${present}: ${remedy}`,
  );
}

/** Returns the ids of the master keys that have encrypted the stored secrets. */
async function keysInUse({ configuration, members }: SecretStore): Promise<ReadonlySet<string>> {
  const entries = (await configuration.list()).flatMap(({ value }) =>
    secretsOf(value).map(([, sealed]) => sealed),
  );
  const factors = (await members.list()).flatMap(({ totp }) => (totp ? [totp.secret.sealed] : []));
  return new Set([...entries, ...factors].map(sealedBy).filter((id) => id !== null));
}
