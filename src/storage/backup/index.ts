export { makeBackup, type Installation, type Progress } from "./backup.ts";
export { restoreBackup } from "./restore.ts";
export type { BackupManifest } from "./manifest.ts";
