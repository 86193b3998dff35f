import { fdatasync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";

const syncData = promisify(fdatasync);

/**
 * The WAL of a database. While the WAL is open here, the database must have a connection, because a connection prevents
 * SQLite from replacing the file. The WAL is the only file of SQLite that other code may open, because SQLite's locks
 * are on the database and the shared memory.
 */
export class WalFile {
  readonly #path: string;
  #opened: Promise<FileHandle> | null = null;

  constructor(location: string) {
    this.#path = `${location}-wal`;
  }

  /** Resolves when everything committed so far is on the disk (in the WAL or the database). */
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
