import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Makes a folder that only its owner can enter, and missing parents. An existing folder gets the same mode if it is the
 * gateway's own. The operator's data folder keeps its mode, because it may be shared intentionally.
 */
export function createPrivateFolder(path: string, { isOwn }: { isOwn: boolean }): void {
  const created = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (created !== undefined || isOwn) chmodSync(path, FOLDER_MODE);
}

/**
 * Makes an empty file that only its owner can read, or changes the mode of an existing file. Does not open an existing
 * file: when a process closes any descriptor of a file, the kernel drops all POSIX locks of the process on that file,
 * including SQLite's (sqlite.org, "How To Corrupt An SQLite Database File", 2.2).
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  chmodSync(path, FILE_MODE);
}
