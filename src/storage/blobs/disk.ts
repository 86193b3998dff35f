import { existsSync, unlinkSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { createSpool, spoolPathOf } from "../../lib/spool.ts";
import { createPrivateFile, createPrivateFolder } from "../private-files.ts";
import { outageReport, type StorageReport } from "../report.ts";
import { isBlobName, mimeTypeOf } from "./links.ts";
import type { NamedStore } from "./named-store.ts";

/**
 * Blobs as files of one directory, spread over 256 folders by the first two letters of their names. A file
 * appears under its name complete or not at all. Temporary files are in `temporaryDirectory`, on the same disk.
 */
export function openDiskStore(directory: string, temporaryDirectory: string): NamedStore<Blob> {
  for (const folder of [directory, temporaryDirectory].filter((folder) => existsSync(folder)))
    createPrivateFolder(folder, { isOwn: true });
  const folderOf = (name: string) => join(directory, name.slice(0, FOLDER_LETTERS));
  const pathOf = (name: string) => join(folderOf(name), name);
  return {
    async write(name, image) {
      try {
        await mkdir(folderOf(name), { recursive: true, mode: 0o700 });
        if (!(await linkSpooled(image, pathOf(name)))) await copy(image, pathOf(name), temporaryDirectory);
      } catch (cause) {
        throw new DependencyError("the disk did not take a blob", { cause, dependency: "blobs" });
      }
    },

    async get(name) {
      if (!isBlobName(name)) return null;
      const file = Bun.file(pathOf(name), { type: mimeTypeOf(name) });
      return (await file.exists()) ? file : null;
    },

    async *pages() {
      const folders = await readdir(directory).catch(ignoreMissing);
      for (const folder of folders) {
        if (!FOLDER.test(folder)) continue;
        const names = (await readdir(join(directory, folder)).catch(ignoreMissing)).filter(isBlobName);
        for (let from = 0; from < names.length; from += PAGE)
          yield await Promise.all(names.slice(from, from + PAGE).map((name) => ageOf(name, pathOf(name))));
      }
    },

    async remove(name) {
      await rm(pathOf(name), { force: true });
    },
  };
}

const FOLDER_LETTERS = 2;
const FOLDER = /^[0-9a-f]{2}$/;
const PAGE = 64;

/**
 * Makes a hard link to a picture that is a whole file of a spool. The link stays when the spool is removed. Returns
 * false for any other picture, and when no hard link is possible.
 */
async function linkSpooled(image: Blob, path: string): Promise<boolean> {
  const source = spoolPathOf(image);
  if (source === null) return false;
  try {
    // The blob may be a slice of a file, but its path is the path of the whole file.
    if ((await stat(source)).size !== image.size) return false;
    await link(source, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && LINKLESS.has(error.code)) return false;
    throw error;
  }
}

/** Error codes of a healthy disk on which a hard link is not possible. */
const LINKLESS: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK"]);

async function copy(image: Blob, path: string, temporaryDirectory: string): Promise<void> {
  await using spool = createSpool(temporaryDirectory);
  const file = spool.create();
  // The picture is copied piece by piece, because Bun's own copying of files ignores the bounds of a slice.
  for await (const piece of image.stream()) {
    file.write(piece);
    await file.ready();
  }
  await file.finish();
  await rename(file.path, path);
}

const CHECK_MS = 1000;
const DISK = {
  lost: "the disk takes no new files: requests for links to pictures are refused",
  available: "the disk takes new files again",
};

/**
 * Returns a function that returns true while a folder accepts new files. The function is called before a vendor is paid
 * for a picture. It creates a test file, at most once a second, because a disk with free space may have no free inodes.
 */
export function diskCheck(folder: string, clock: Clock, report: StorageReport): () => boolean {
  const outage = outageReport(DISK, report);
  let checkedAt = -Infinity;
  return () => {
    if (clock.monotonic() - checkedAt < CHECK_MS) return !outage.isLost;
    checkedAt = clock.monotonic();
    const path = join(folder, `.${newId("file")}`);
    try {
      createPrivateFolder(folder, { isOwn: true });
      createPrivateFile(path);
      unlinkSync(path);
      outage.available();
    } catch (error) {
      outage.lost(error);
    }
    return !outage.isLost;
  };
}

/**
 * Returns the time and size of a file. A file that was removed meanwhile counts as new, so that no sweep removes it.
 */
async function ageOf(name: string, path: string): Promise<{ name: string; storedAt: number; size: number }> {
  const found = await stat(path).catch(() => null);
  return { name, storedAt: found?.mtimeMs ?? Infinity, size: found?.size ?? 0 };
}

function ignoreMissing(error: unknown): string[] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}
