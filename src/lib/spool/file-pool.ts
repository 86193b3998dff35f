import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { namePooledFile } from "./name.ts";

/** Smaller files are not worth reusing. */
const MIN_BYTES = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 64;
const IDLE_MS = 1_000;

interface PooledFile {
  path: string;
  byteLength: number;
}

/**
 * Keeps used files for a moment, to be overwritten: overwriting a page in the system's cache costs a small part of
 * making a new one. Holds at most 256 MiB, and nothing after a second without use.
 */
export class FilePool {
  readonly #files: PooledFile[] = [];
  #byteLength = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #idleMs: number;

  /** `idleMs` after the last use all files are deleted. */
  constructor({ idleMs = IDLE_MS }: { idleMs?: number } = {}) {
    this.#idleMs = idleMs;
  }

  /** Takes a file, to be renamed and overwritten. It may be longer than the new content. */
  take(): PooledFile | undefined {
    const file = this.#files.pop();
    if (!file) return undefined;
    this.#byteLength -= file.byteLength;
    this.#timer?.refresh();
    return file;
  }

  /** Keeps or deletes a closed file that nobody reads any more. */
  async give(path: string): Promise<void> {
    const { size, nlink } = await stat(path);
    // A file with a second hard link was published and must not change.
    if (nlink > 1 || size < MIN_BYTES || !this.#hasCapacity(size)) return rm(path, { force: true });
    // Renamed, so that the old name does not lead to new content.
    const pooledPath = join(dirname(path), namePooledFile(basename(path)));
    await rename(path, pooledPath);
    this.#files.push({ path: pooledPath, byteLength: size });
    this.#byteLength += size;
    this.#timer ??= setTimeout(() => void this.clear(), this.#idleMs).unref();
    this.#timer.refresh();
  }

  /** Deletes all files. The next start of a process sweeps files that cannot be deleted now. */
  async clear(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#byteLength = 0;
    await Promise.allSettled(this.#files.splice(0).map(({ path }) => rm(path, { force: true })));
  }

  #hasCapacity(size: number): boolean {
    return this.#files.length < MAX_FILES && this.#byteLength + size <= MAX_BYTES;
  }
}
