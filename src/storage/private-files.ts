import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync } from "node:fs";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Makes a folder, with its parents, that only its owner can enter. One that exists gets the same mode if it is the
 * gateway's own; the operator's data folder keeps its mode, as it may be shared on purpose.
 */
export function createPrivateFolder(path: string, { isOwn }: { isOwn: boolean }): void {
  const created = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (created !== undefined || isOwn) chmodSync(path, FOLDER_MODE);
}

/** Makes an empty file that only its owner can read, or gives an existing one that mode. */
export function createPrivateFile(path: string): void {
  const file = openSync(path, "a", FILE_MODE);
  try {
    fchmodSync(file, FILE_MODE);
  } finally {
    closeSync(file);
  }
}
