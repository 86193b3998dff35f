import { cp, mkdtemp, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

/** Root folder of the program. */
export const ROOT = resolve(import.meta.dir, "../..");

const NOT_COPIED = new Set([".git", "node_modules", "data", "dist/test"]);

/** Copies the program to a new folder for changes. The caller removes the folder. */
export async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "mutation-"));
  await cp(ROOT, copy, {
    recursive: true,
    filter: (path) => !NOT_COPIED.has(relative(ROOT, path)),
  });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Returns how often a file of the program contains a text; 0 if the file does not exist. */
export async function countInFile(file: string, text: string): Promise<number> {
  const content = await readFile(join(ROOT, file), "utf8").catch(() => "");
  return content.split(text).length - 1;
}

/** Kills the remaining processes of a process group. */
export function endGroup(id: number): void {
  try {
    process.kill(-id, "SIGKILL");
  } catch {
    // All processes have ended.
  }
}
