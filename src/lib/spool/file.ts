import { writeSync } from "node:fs";
import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { detachBuffer } from "../detach-buffer.ts";
import type { FilePool } from "./file-pool.ts";

const BUFFER_BYTES = 256 * 1024;
const BACKLOG_BUFFERS = 1;

/** What the files of one spool share. */
export interface SpoolContext {
  directory: string;
  filePool: FilePool | undefined;
  /** Written buffers, to be filled again: thrown away they would pile up until the next collection. */
  bufferPool: Buffer<ArrayBuffer>[];
}

/**
 * One temporary file, written in large pieces: off the main thread, but for what goes over pages of a used file, which
 * is as quick as a copy in memory. `write` copies, so buffers may be reused.
 */
export class SpoolFile {
  readonly path: string;
  byteLength = 0;
  private current: Buffer<ArrayBuffer> | undefined;
  private used = 0;
  private readonly backlog: Buffer<ArrayBuffer>[] = [];
  private pumping: Promise<void> | undefined;
  /** A pump can end before its promise is known. */
  private isPumping = false;
  private handle: FileHandle | undefined;
  private isMade = false;
  private isFinished = false;
  /** Length of the used file it is written over. */
  private usedBytes = 0;
  private writtenBytes = 0;
  private failure: { cause: unknown } | undefined;

  constructor(
    private readonly context: SpoolContext,
    name: string,
  ) {
    this.path = join(context.directory, name);
  }

  /** Takes the bytes at once; await `ready` between writes so that what is not yet on disk stays bounded. */
  write(bytes: Uint8Array): void {
    this.byteLength += bytes.byteLength;
    let from = 0;
    while (from < bytes.byteLength) {
      this.current ??= this.context.bufferPool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
      const taken = Math.min(bytes.byteLength - from, BUFFER_BYTES - this.used);
      this.current.set(bytes.subarray(from, from + taken), this.used);
      this.used += taken;
      from += taken;
      if (this.used === BUFFER_BYTES) this.flush();
    }
  }

  /** Waits until little is left unwritten. Throws what the disk threw. */
  ready(): Promise<void> | undefined {
    if (this.failure) return Promise.reject(this.failure.cause);
    return this.backlog.length > BACKLOG_BUFFERS ? this.settled() : undefined;
  }

  /** Writes the rest and closes. The blob reads from disk and is good until the spool is disposed. */
  async finish(type?: string): Promise<Blob> {
    this.flush();
    await this.settled();
    // What stood in a file that is used again must not show behind what was written.
    if (this.usedBytes > this.byteLength) await this.handle?.truncate(this.byteLength);
    await this.close();
    this.isFinished = true;
    return Bun.file(this.path, type === undefined ? {} : { type });
  }

  /** Closes and deletes the file, whatever state it is in. Who writes on is told that it failed. */
  async remove(): Promise<void> {
    await this.end();
    if (this.isMade) await rm(this.path, { force: true });
  }

  /** The same for a file that nobody reads any more: another spool may write over it. */
  async retire(): Promise<void> {
    const { filePool } = this.context;
    if (!this.isFinished || !filePool) return this.remove();
    await this.end();
    await filePool.give(this.path);
  }

  private async end(): Promise<void> {
    this.failure ??= { cause: new Error("the temporary file was removed") };
    this.backlog.length = 0;
    this.current = undefined;
    await this.pumping;
    await this.close();
  }

  private flush(): void {
    // An empty file exists too, hence the push of an empty buffer when nothing was ever written.
    if (this.current || this.byteLength === 0) {
      this.backlog.push((this.current ?? Buffer.alloc(0)).subarray(0, this.used));
      this.current = undefined;
      this.used = 0;
    }
    if (!this.isPumping) this.pumping = this.pump();
  }

  private async settled(): Promise<void> {
    await this.pumping;
    if (this.failure) throw this.failure.cause;
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    try {
      if (this.failure) return;
      this.handle ??= await this.open();
      for (let buffer = this.backlog[0]; buffer; buffer = this.backlog[0]) {
        const writing = this.writeOut(this.handle, buffer);
        if (writing) await writing;
        this.backlog.shift();
        this.keepBuffer(buffer);
      }
    } catch (cause) {
      this.failure = { cause };
      this.backlog.length = 0;
    } finally {
      this.isPumping = false;
    }
  }

  private writeOut(handle: FileHandle, buffer: Buffer): Promise<void> | undefined {
    const end = this.writtenBytes + buffer.byteLength;
    let from = 0;
    while (end <= this.usedBytes && from < buffer.byteLength)
      from += writeSync(handle.fd, buffer, from, buffer.byteLength - from, this.writtenBytes + from);
    const start = this.writtenBytes;
    this.writtenBytes = end;
    return from < buffer.byteLength ? writeAll(handle, buffer, start) : undefined;
  }

  private async open(): Promise<FileHandle> {
    const used = this.context.filePool?.take();
    if (used && (await isRenamed(used.path, this.path))) {
      this.isMade = true;
      this.usedBytes = used.byteLength;
      return await open(this.path, "r+");
    }
    const handle = await openNew(this.context.directory, this.path);
    this.isMade = true;
    return handle;
  }

  private keepBuffer({ buffer }: Buffer<ArrayBuffer>): void {
    const { bufferPool } = this.context;
    const whole = Buffer.from(buffer);
    if (bufferPool.length > BACKLOG_BUFFERS) detachBuffer(whole);
    else if (whole.byteLength === BUFFER_BYTES) bufferPool.push(whole);
  }

  private async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }
}

/** False when the file is gone. */
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
