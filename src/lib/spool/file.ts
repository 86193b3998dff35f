import { writeSync } from "node:fs";
import { mkdir, open, rename, rm, type FileHandle, stat } from "node:fs/promises";
import { join, basename, dirname } from "node:path";
import { detachBuffer } from "../detach-buffer.ts";
import { namePooledFile } from "./name.ts";

const BUFFER_BYTES = 256 * 1024;
const BACKLOG_BUFFERS = 1;

/** The values that all files of one spool share. */
export interface SpoolContext {
  directory: string;
  filePool: FilePool | undefined;
  account: { add(byteLength: number): void } | undefined;
  /** Written buffers that can be reused. Otherwise they would occupy memory until the next garbage collection. */
  bufferPool: Buffer<ArrayBuffer>[];
}

/**
 * One temporary file. A new file is written in large pieces by another thread. A file from the pool is overwritten by
 * the main thread, which is as fast as a copy in memory. `write` copies the bytes, so callers may reuse buffers.
 */
export class SpoolFile {
  readonly path: string;
  byteLength = 0;
  #current: Buffer<ArrayBuffer> | undefined;
  #used = 0;
  readonly #backlog: Buffer<ArrayBuffer>[] = [];
  #pumping: Promise<void> | undefined;
  /** True while buffers are being written. The writing may end before its promise is assigned to `#pumping`. */
  #isPumping = false;
  #handle: FileHandle | undefined;
  #isMade = false;
  #isFinished = false;
  /** Length of the pooled file that is being overwritten. */
  #usedBytes = 0;
  #writtenBytes = 0;
  #failure: { cause: unknown } | undefined;
  readonly #context: SpoolContext;

  constructor(context: SpoolContext, name: string) {
    this.#context = context;
    this.path = join(context.directory, name);
  }

  /** Copies the bytes. Await `ready` between writes, to limit the bytes that are not on disk yet. */
  write(bytes: Uint8Array): void {
    if (this.#failure) return;
    try {
      this.#context.account?.add(bytes.byteLength);
    } catch (cause) {
      this.#failure = { cause };
      return;
    }
    this.byteLength += bytes.byteLength;
    let from = 0;
    while (from < bytes.byteLength) {
      this.#current ??= this.#context.bufferPool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
      const taken = Math.min(bytes.byteLength - from, BUFFER_BYTES - this.#used);
      this.#current.set(bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
      if (this.#used === BUFFER_BYTES) this.#flush();
    }
  }

  /**
   * Waits until most of the written bytes are on disk. Throws the error of the disk, or the spool account's refusal.
   */
  ready(): Promise<void> | undefined {
    if (this.#failure) return Promise.reject(this.#failure.cause);
    return this.#backlog.length > BACKLOG_BUFFERS ? this.#settled() : undefined;
  }

  /** Writes the buffered bytes and closes the file. The blob reads from disk, until the spool is disposed of. */
  async finish(type?: string): Promise<Blob> {
    this.#flush();
    await this.#settled();
    // A pooled file may be longer than the new content. The rest of its old content is cut off.
    if (this.#usedBytes > this.byteLength) await this.#handle?.truncate(this.byteLength);
    await this.#close();
    this.#isFinished = true;
    return Bun.file(this.path, type === undefined ? {} : { type });
  }

  /** Closes and deletes the file in any state. Later writes do nothing; `ready` and `finish` then throw. */
  async remove(): Promise<void> {
    await this.#end();
    if (this.#isMade) await rm(this.path, { force: true });
  }

  /**
   * Gives a finished file to the pool, where another spool may overwrite it. Deletes the file if it is not finished or
   * there is no pool. Call it when nobody reads the file any more.
   */
  async retire(): Promise<void> {
    const { filePool } = this.#context;
    if (!this.#isFinished || !filePool) return this.remove();
    await this.#end();
    await filePool.give(this.path);
  }

  async #end(): Promise<void> {
    this.#failure ??= { cause: new Error("the temporary file was removed") };
    this.#backlog.length = 0;
    this.#current = undefined;
    await this.#pumping;
    await this.#close();
  }

  #flush(): void {
    // Writes an empty buffer if nothing was written, because an empty file must exist too.
    if (this.#current || this.byteLength === 0) {
      this.#backlog.push((this.#current ?? Buffer.alloc(0)).subarray(0, this.#used));
      this.#current = undefined;
      this.#used = 0;
    }
    if (!this.#isPumping) this.#pumping = this.#pump();
  }

  async #settled(): Promise<void> {
    await this.#pumping;
    if (this.#failure) throw this.#failure.cause;
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    try {
      if (this.#failure) return;
      this.#handle ??= await this.#open();
      for (let buffer = this.#backlog[0]; buffer; buffer = this.#backlog[0]) {
        const writing = this.#writeOut(this.#handle, buffer);
        if (writing) await writing;
        this.#backlog.shift();
        this.#keepBuffer(buffer);
      }
    } catch (cause) {
      this.#failure = { cause };
      this.#backlog.length = 0;
    } finally {
      this.#isPumping = false;
    }
  }

  #writeOut(handle: FileHandle, buffer: Buffer): Promise<void> | undefined {
    const end = this.#writtenBytes + buffer.byteLength;
    let from = 0;
    while (end <= this.#usedBytes && from < buffer.byteLength)
      from += writeSync(handle.fd, buffer, from, buffer.byteLength - from, this.#writtenBytes + from);
    const start = this.#writtenBytes;
    this.#writtenBytes = end;
    return from < buffer.byteLength ? writeAll(handle, buffer, start) : undefined;
  }

  async #open(): Promise<FileHandle> {
    const used = this.#context.filePool?.take();
    if (used && (await isRenamed(used.path, this.path))) {
      this.#isMade = true;
      this.#usedBytes = used.byteLength;
      return await open(this.path, "r+");
    }
    const handle = await openNew(this.#context.directory, this.path);
    this.#isMade = true;
    return handle;
  }

  #keepBuffer({ buffer }: Buffer<ArrayBuffer>): void {
    const { bufferPool } = this.#context;
    const whole = Buffer.from(buffer);
    if (bufferPool.length > BACKLOG_BUFFERS) detachBuffer(whole);
    else if (whole.byteLength === BUFFER_BYTES) bufferPool.push(whole);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** Renames a file. Returns false when the file does not exist. */
async function isRenamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function openNew(directory: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await open(path, "wx", 0o600);
  }
}

async function writeAll(handle: FileHandle, buffer: Buffer, start: number): Promise<void> {
  let from = 0;
  while (from < buffer.byteLength) {
    const length = buffer.byteLength - from;
    from += (await handle.write(buffer, from, length, start + from)).bytesWritten;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Minimum size of a file that is kept for reuse. */
const MIN_BYTES = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 64;
const IDLE_MS = 1_000;

interface PooledFile {
  path: string;
  byteLength: number;
}

/**
 * Stores used files for a moment, so that they can be overwritten. Overwriting costs a small part of what new pages in
 * the system's cache cost. Stores at most 256 MiB. After a second without use, all files are deleted.
 */
export class FilePool {
  readonly #files: PooledFile[] = [];
  #byteLength = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #idleMs: number;

  /** All files are deleted `idleMs` after the last use. */
  constructor({ idleMs = IDLE_MS }: { idleMs?: number } = {}) {
    this.#idleMs = idleMs;
  }

  /** Takes a file. The caller must rename and overwrite the file, which may be longer than the new content. */
  take(): PooledFile | undefined {
    const file = this.#files.pop();
    if (!file) return undefined;
    this.#byteLength -= file.byteLength;
    this.#timer?.refresh();
    return file;
  }

  /** Stores or deletes a closed file that nobody reads any more. */
  async give(path: string): Promise<void> {
    const { size, nlink } = await stat(path);
    // A file with a second hard link is also a stored picture, so it must not change.
    if (nlink > 1 || size < MIN_BYTES || !this.#hasCapacity(size)) return rm(path, { force: true });
    // The file is renamed, so that the old name never leads to new content.
    const pooledPath = join(dirname(path), namePooledFile(basename(path)));
    await rename(path, pooledPath);
    this.#files.push({ path: pooledPath, byteLength: size });
    this.#byteLength += size;
    this.#timer ??= setTimeout(() => void this.clear(), this.#idleMs).unref();
    this.#timer.refresh();
  }

  /** Deletes all files. Files that cannot be deleted now are deleted when a process next starts. */
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
