import type { Configuration, ConfigurationState, StoredEntry } from "./admin/configuration-ports.ts";
import {
  associatedData,
  ensureMasterKey,
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
  let masterKeys: MasterKeys | null = null;
  const read = async (stored: readonly StoredEntry[]): Promise<LoadedSettings> => {
    const loaded = await load(stored);
    ({ masterKeys } = loaded);
    return loaded;
  };
  const keys = async (): Promise<MasterKeys> => masterKeys ?? (await read([])).masterKeys;
  return {
    apply,
    read: async (stored) => toState(await read(stored)),
    async seal(name, text) {
      const key = await ensureMasterKey(await keys());
      return { sealed: seal(key, text, associatedData(name, name.field)) };
    },
    async reseal(name, { sealed }) {
      const known = await keys();
      const associated = associatedData(name, name.field);
      const text = unseal(openingKeys(known), sealed, associated);
      return text === null ? null : { sealed: seal(await ensureMasterKey(known), text, associated) };
    },
    readYaml,
    writeYaml,
    providers: describeProviders,
    probe: probeChannel,
  };
}

function toState({ settings, configured, rows }: LoadedSettings): ConfigurationState {
  return {
    catalogue: settings,
    ...configured,
    settings: rows.map((row) => ({ ...row, isReloadable: isReloadable(row) })),
  };
}
