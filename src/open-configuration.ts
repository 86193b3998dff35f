import { AdminError } from "./admin/admin-error.ts";
import type { Configuration, ConfigurationState, StoredEntry } from "./admin/configuration-ports.ts";
import {
  associatedData,
  ConfigurationError,
  ensureMasterKey,
  fileVersion,
  isReloadable,
  openingKeys,
  readYaml,
  writeYaml,
  type LoadedSettings,
  type MasterKeys,
} from "./config/index.ts";
import { seal, unseal } from "./lib/seal.ts";
import { describeProviders, probeChannel } from "./providers/registry.ts";

/** Loads the configuration anew, with these entries of the database. */
export type LoadConfiguration = (stored: readonly StoredEntry[]) => Promise<LoadedSettings>;

/**
 * The configuration for administration, over the loading of it. `apply` makes changes effective in this process; it
 * does nothing for commands, whose changes running gateways notice by themselves.
 */
export function openConfiguration(
  load: LoadConfiguration,
  apply: () => Promise<void> = async () => {},
): Configuration {
  const read = lastRead(load);
  const keys = async (): Promise<MasterKeys> => (await read(null)).masterKeys;
  const open: Configuration["unseal"] = async (name, { sealed }) =>
    unseal(openingKeys(await keys()), sealed, associatedData(name, name.field));
  let providers: ReturnType<typeof describeProviders> | null = null;
  return {
    apply,
    read: async (stored) => toState(await read(stored)),
    async seal(name, text) {
      const key = await ensureMasterKey(await keys());
      return { sealed: seal(key, text, associatedData(name, name.field)) };
    },
    unseal: open,
    async reseal(name, secret) {
      const text = await open(name, secret);
      if (text === null) return null;
      return { sealed: seal(await ensureMasterKey(await keys()), text, associatedData(name, name.field)) };
    },
    readYaml,
    writeYaml,
    providers: () => (providers ??= describeProviders()),
    probe: probeChannel,
  };
}

/**
 * Loads what differs from the last time: pages that only look do not load the same again, which would keep requests
 * waiting for some milliseconds. `null` is whatever was read last. Throws an `AdminError` while the file is not valid.
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
