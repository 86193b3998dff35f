import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

const BUFFER_BYTES = 128 * 1024;
const BACKLOG_BUFFERS = 2;
const ORPHAN_AGE_MS = 24 * 60 * 60 * 1000;
const NAME = /^spool-([0-9a-f]{16})-(\d+)-([0-9a-f]{16})-\d+-[0-9a-f]{16}$/;
const HOST_TAG = Bun.hash(hostname()).toString(16).padStart(16, "0");
const PROCESS_TAG = randomBytes(8).toString("hex");

/**
 * Temporary files of one request. Disposing the spool removes all of them, finished or not, and whoever still
 * writes leaves nothing behind: `await using spool = createSpool(directory)`.
 */
export interface Spool extends AsyncDisposable {
  /** A new empty file. The directory is made when it is missing. */
  create(): SpoolFile;
}

export function createSpool(directory: string): Spool {
  const files: SpoolFile[] = [];
  let isDisposed = false;
  const spoolTag = randomBytes(8).toString("hex");
  return {
    create() {
      const name = `spool-${HOST_TAG}-${process.pid}-${PROCESS_TAG}-${files.length}-${spoolTag}`;
      const file = new SpoolFile(directory, name);
      files.push(file);
      if (isDisposed) void file.remove();
      return file;
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      await Promise.all(files.map((file) => file.remove()));
    },
  };
}

/** One temporary file, written in large pieces off the main thread. `write` copies, so buffers may be reused. */
export class SpoolFile {
  readonly path: string;
  byteLength = 0;
  private current: Buffer | undefined;
  private used = 0;
  private readonly backlog: Buffer[] = [];
  /** Written buffers, to be filled again: thrown away they would pile up until the next collection. */
  private readonly spare: Buffer[] = [];
  private pumping: Promise<void> | undefined;
  private handle: FileHandle | undefined;
  private isMade = false;
  private failure: { cause: unknown } | undefined;

  constructor(
    private readonly directory: string,
    name: string,
  ) {
    this.path = join(directory, name);
  }

  /** Takes the bytes at once; await `ready` between writes so that what is not yet on disk stays bounded. */
  write(bytes: Uint8Array): void {
    this.byteLength += bytes.byteLength;
    let from = 0;
    while (from < bytes.byteLength) {
      this.current ??= this.spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
      const taken = Math.min(bytes.byteLength - from, BUFFER_BYTES - this.used);
      this.current.set(bytes.subarray(from, from + taken), this.used);
      this.used += taken;
      from += taken;
      if (this.used === BUFFER_BYTES) this.flush();
    }
  }

  /** Waits until little is left unwritten. Throws what the disk threw. */
  async ready(): Promise<void> {
    if (this.failure) throw this.failure.cause;
    if (this.backlog.length > BACKLOG_BUFFERS) await this.settled();
  }

  /** Writes the rest and closes. The blob reads from disk and is good until the spool is disposed. */
  async finish(type?: string): Promise<Blob> {
    this.flush();
    await this.settled();
    await this.close();
    this.spare.length = 0;
    return Bun.file(this.path, type === undefined ? {} : { type });
  }

  /** Closes and deletes the file, whatever state it is in. Who writes on is told that it failed. */
  async remove(): Promise<void> {
    this.failure ??= { cause: new Error("the temporary file was removed") };
    this.backlog.length = 0;
    this.current = undefined;
    await this.pumping;
    await this.close();
    if (this.isMade) await rm(this.path, { force: true });
  }

  private flush(): void {
    // An empty file exists too, hence the push of an empty buffer when nothing was ever written.
    if (this.current || this.byteLength === 0) {
      this.backlog.push((this.current ?? Buffer.alloc(0)).subarray(0, this.used));
      this.current = undefined;
      this.used = 0;
    }
    this.pumping ??= this.pump();
  }

  private async settled(): Promise<void> {
    await this.pumping;
    if (this.failure) throw this.failure.cause;
  }

  private async pump(): Promise<void> {
    try {
      if (this.failure) return;
      this.handle ??= await openFile(this.directory, this.path);
      this.isMade = true;
      for (let buffer = this.backlog[0]; buffer; buffer = this.backlog[0]) {
        await writeAll(this.handle, buffer);
        this.backlog.shift();
        if (buffer.byteLength === BUFFER_BYTES) this.spare.push(buffer);
      }
    } catch (cause) {
      this.failure = { cause };
      this.backlog.length = 0;
    } finally {
      this.pumping = undefined;
    }
  }

  private async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }
}

/** Removes the temporary files of processes that are no more; answers how many. Call it once at start. */
export async function sweepSpool(directory: string, now = Date.now()): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  let removed = 0;
  for (const name of names) {
    const path = join(directory, name);
    if (!(await isOrphan(name, path, now))) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

/** Process numbers mean something on their own host only; files of other hosts are judged by age alone. */
async function isOrphan(name: string, path: string, now: number): Promise<boolean> {
  const match = NAME.exec(name);
  if (!match) return false;
  const [, hostTag, processId, processTag] = match;
  if (processTag === PROCESS_TAG) return false;
  if (hostTag === HOST_TAG && !isRunningElsewhere(Number(processId))) return true;
  const found = await stat(path).catch(() => null);
  return found !== null && now - found.mtimeMs > ORPHAN_AGE_MS;
}

function isRunningElsewhere(processId: number): boolean {
  if (processId === process.pid) return false;
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function openFile(directory: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await mkdir(directory, { recursive: true });
    return await open(path, "wx", 0o600);
  }
}

async function writeAll(handle: FileHandle, buffer: Buffer): Promise<void> {
  let from = 0;
  while (from < buffer.byteLength) {
    const { bytesWritten } = await handle.write(buffer, from, buffer.byteLength - from, null);
    from += bytesWritten;
  }
}
