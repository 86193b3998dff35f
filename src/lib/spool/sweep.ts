import { systemClock } from "../clock.ts";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ownerOf } from "./name.ts";

const ORPHAN_AGE_MS = 24 * 60 * 60 * 1000;

/** Removes the temporary files of ended processes and returns their number. Call it once at start. */
export async function sweepSpool(directory: string, now = systemClock.now()): Promise<number> {
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

/** Process ids are valid on their own host only; files of other hosts are orphans by their age. */
async function isOrphan(name: string, path: string, now: number): Promise<boolean> {
  const owner = ownerOf(name);
  if (!owner || owner.isOwn) return false;
  if (owner.isOwnHost && !isRunningElsewhere(owner.processId)) return true;
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
