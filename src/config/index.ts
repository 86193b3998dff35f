export type { ProviderSchemas } from "./channels.ts";
export type { SettingRow } from "./describe.ts";
export {
  ignoreProxies,
  ownCommand,
  processEnvironment,
  secureEnvironment,
  RESTARTS_VARIABLE,
  WORKER_VARIABLE,
  type Environment,
} from "./environment.ts";
export { loadSettings, readShippedModels, type LoadedSettings, type LoadOptions } from "./load.ts";
export type { ShippedModel } from "./catalogue.ts";
export { currentKey, ensureMasterKey, openingKeys, type MasterKeys } from "./master-key.ts";
export { isReloadable, mergeReloaded, type Reload } from "./reload.ts";
export { associatedData } from "./stored-entries.ts";
export { readYaml, writeYaml } from "./yaml.ts";
export { ABSENT, fileVersion, watchFile } from "./watch.ts";
export { ConfigurationError } from "./problems.ts";
export type { SettingOrigin, Settings } from "./settings.ts";
