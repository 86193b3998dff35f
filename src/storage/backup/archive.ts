import { createReadStream, createWriteStream, statSync } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, pack } from "tar-stream";

/** Called with the number of processed bytes and the number of all bytes. A thrown error ends the work. */
type OnBytes = (done: number, total: number) => void;

/** Writes a folder's files as a tar file that only its owner can read. The files of `first` come first, in order. */
export async function packFolder(
  folder: string,
  path: string,
  first: readonly string[],
  onBytes: OnBytes = () => {},
): Promise<void> {
  const others = (await listFiles(folder)).filter((name) => !first.includes(name));
  const archive = pack();
  const written = pipeline(
    Readable.from(archive as AsyncIterable<Uint8Array>),
    createWriteStream(path, { mode: 0o600 }),
  );
  const added = addFiles(archive, folder, [...first, ...others], onBytes);
  // A failure while files are added also ends the writing of the archive.
  added.catch((error: Error) => archive.destroy(error));
  await Promise.all([written, added]);
  await syncPath(path);
}

async function addFiles(
  archive: ReturnType<typeof pack>,
  folder: string,
  names: string[],
  onBytes: OnBytes,
): Promise<void> {
  let done = 0;
  const total = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  for (const name of names) {
    const path = join(folder, name);
    const { size, mtime } = await stat(path);
    const entry = archive.entry({ name, size, mtime, mode: 0o600 });
    const ended = new Promise<void>((resolve, reject) => entry.on("finish", resolve).on("error", reject));
    if (size > 0)
      for await (const piece of createReadStream(path, { end: size - 1 })) {
        onBytes((done += piece.length), total);
        if (!entry.write(piece)) await new Promise<void>((resolve) => entry.once("drain", () => resolve()));
      }
    entry.end(null);
    await ended;
  }
  archive.finalize();
}

/**
 * Unpacks a tar file into a folder and syncs each file to the disk. Throws an `Error` when the file is no complete tar
 * file, or has an entry that is not a file below the folder.
 */
export async function unpackFolder(path: string, folder: string, onBytes: OnBytes = () => {}): Promise<void> {
  const archive = extract();
  const total = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let done = 0;
  const source = createReadStream(path);
  source.on("error", (error) => archive.destroy(error));
  const read = (async () => {
    for await (const piece of source) {
      onBytes((done += piece.length), total);
      if (!archive.write(piece)) await new Promise<void>((resolve) => archive.once("drain", () => resolve()));
    }
    archive.end(null);
  })();
  read.catch((error: Error) => archive.destroy(error));
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (type !== "file" || !isBelow(name)) throw new Error(`it has ${type} "${name}"`);
      const target = join(folder, name);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await pipeline(
        Readable.from(entry as AsyncIterable<Uint8Array>),
        createWriteStream(target, { flags: "wx", mode: 0o600 }),
      );
      await syncPath(target);
    }
  } catch (error) {
    throw new Error(`${path} is no whole backup: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  } finally {
    source.destroy();
  }
}

/** True when a file name in an archive stays below the folder into which the archive is unpacked. */
function isBelow(name: string): boolean {
  return name.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** Returns the paths of all files below a folder, relative to this folder. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Syncs a file or folder, so that a new file or a new name in the folder survives a loss of power. */
export async function syncPath(path: string): Promise<void> {
  const opened = await open(path, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
