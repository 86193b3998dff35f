import { fdatasync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";

const syncData = promisify(fdatasync);

/**
 * The WAL of a database that has a connection for as long as this is open: so it remains one and the same file. It is the
 * one file of SQLite's that may be opened beside it: its locks are on the database and on the shared memory.
 */
export class WalFile {
  readonly #path: string;
  #opened: Promise<FileHandle> | null = null;

  constructor(location: string) {
    this.#path = `${location}-wal`;
  }

  /** Returns once everything committed so far survives a loss of power: it is in the WAL, or in the database. */
  async sync(): Promise<void> {
    const { fd } = await (this.#opened ??= this.#open());
    await syncData(fd);
  }

  async close(): Promise<void> {
    const file = await this.#opened?.catch(() => null);
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    try {
      return await open(this.#path, "r+");
    } catch (error) {
      this.#opened = null;
      throw error;
    }
  }
}
