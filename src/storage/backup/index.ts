export { makeBackup, type Installation } from "./backup.ts";
export { restoreBackup } from "./restore.ts";
export type { BackupManifest } from "./manifest.ts";
