import type { Configuration, ConfigurationState, StoredEntry } from "./admin/configuration-ports.ts";
import {
  associatedData,
  ensureMasterKey,
  isReloadable,
  openingKeys,
  type LoadedSettings,
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
  return {
    apply,
    read: async (stored) => toState(await load(stored)),
    async seal(name, text) {
      const { masterKeys } = await load([]);
      return { sealed: seal(await ensureMasterKey(masterKeys), text, associatedData(name, name.field)) };
    },
    async reseal(name, { sealed }) {
      const { masterKeys } = await load([]);
      const associated = associatedData(name, name.field);
      const text = unseal(openingKeys(masterKeys), sealed, associated);
      return text === null ? null : { sealed: seal(await ensureMasterKey(masterKeys), text, associated) };
    },
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
