import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { namePooledFile } from "./name.ts";

/** Smaller files are not worth the trouble. */
const MIN_BYTES = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 64;
const IDLE_MS = 1_000;

export interface PooledFile {
  path: string;
  byteLength: number;
}

/**
 * Files that requests have done with, kept for a moment to be written over: a page the system still has costs a
 * small part of a new one. Holds 256 MiB at most, and nothing once no request needs any.
 */
export class FilePool {
  private readonly files: PooledFile[] = [];
  private byteLength = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly idleMs: number;

  /** They are deleted when none was given or taken for so long. */
  constructor({ idleMs = IDLE_MS }: { idleMs?: number } = {}) {
    this.idleMs = idleMs;
  }

  /** A file to rename and write over. It may be longer than what is written. */
  take(): PooledFile | undefined {
    const file = this.files.pop();
    if (!file) return undefined;
    this.byteLength -= file.byteLength;
    this.timer?.refresh();
    return file;
  }

  /** Keeps a closed file that nobody reads any more, or deletes it. */
  async give(path: string): Promise<void> {
    const { size, nlink } = await stat(path);
    // A file with a second name is somebody else's now, and must stay as it is.
    if (nlink > 1 || size < MIN_BYTES || !this.hasCapacity(size)) return rm(path, { force: true });
    // From now on nobody who knew the old name finds it.
    const spare = join(dirname(path), namePooledFile(basename(path)));
    await rename(path, spare);
    this.files.push({ path: spare, byteLength: size });
    this.byteLength += size;
    this.timer ??= setTimeout(() => void this.clear(), this.idleMs).unref();
    this.timer.refresh();
  }

  /** Deletes all of them. What cannot be deleted now is swept by a later start. */
  async clear(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.byteLength = 0;
    await Promise.allSettled(this.files.splice(0).map(({ path }) => rm(path, { force: true })));
  }

  private hasCapacity(size: number): boolean {
    return this.files.length < MAX_FILES && this.byteLength + size <= MAX_BYTES;
  }
}
