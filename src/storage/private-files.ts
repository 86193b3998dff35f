import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";

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

/**
 * Makes an empty file that only its owner can read, or gives an existing one that mode. A file that exists is not
 * opened: the kernel drops all POSIX locks of a process on a file, also those of SQLite, once any descriptor of it is
 * closed (sqlite.org, "How To Corrupt An SQLite Database File", 2.2).
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  chmodSync(path, FILE_MODE);
}
