import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isJournal, QUARANTINE } from "../journal/journal-folder.ts";
import { REFUSED_FILE } from "../journal/posting.ts";
import { isSegmentName } from "../journal/segments.ts";
import { createPrivateFile, createPrivateFolder } from "../private-files.ts";

/**
 * Copies the files of all journals below `from` to `to`. Journal files only grow, so of two files with the same name
 * the longer one is kept. A running process may remove a file during the copying, but only after all charges in the
 * file are in the ledger. Such a file is skipped.
 */
export function addJournals(from: string, to: string): void {
  for (const path of journalFiles(from)) {
    const target = join(to, relative(from, path));
    const temporary = join(dirname(target), `.${basename(target)}.partial`);
    try {
      if (existsSync(target) && statSync(target).size >= statSync(path).size) continue;
      createPrivateFolder(dirname(target), { isOwn: true });
      createPrivateFile(temporary);
      copyFileSync(path, temporary);
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      if (!isMissing(error)) throw error;
    }
  }
}

/**
 * Returns the paths of segments, of files in the quarantine and of the file of refused charges. Lock files are left
 * out.
 */
function journalFiles(root: string): string[] {
  const folders = namesIn(root).filter((name) => isJournal(name));
  const segments = folders.flatMap((folder) =>
    namesIn(join(root, folder))
      .filter(isSegmentName)
      .map((name) => join(root, folder, name)),
  );
  const quarantine = join(root, QUARANTINE);
  const quarantined = namesIn(quarantine).flatMap((folder) =>
    namesIn(join(quarantine, folder))
      .map((name) => join(quarantine, folder, name))
      .filter((path) => statSync(path).isFile()),
  );
  const refused = join(root, REFUSED_FILE);
  return [...segments, ...quarantined, ...(existsSync(refused) ? [refused] : [])];
}

/** Returns the names in a folder; none when there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
