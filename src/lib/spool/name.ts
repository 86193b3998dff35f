import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { systemClock } from "../clock.ts";
import { readdir, rm, stat } from "node:fs/promises";

const NAME = /^(?:spool|spare)-([0-9a-f]{16})-(\d+)-([0-9a-f]{16})-\d+-[0-9a-f]{16}$/;
const HOST_TAG = Bun.hash(hostname()).toString(16).padStart(16, "0");
const PROCESS_TAG = randomBytes(8).toString("hex");

/** Returns the name of a spool's file: host, process, index and the spool's random tag. */
export function nameSpoolFile(index: number, spoolTag: string): string {
  return `spool-${HOST_TAG}-${process.pid}-${PROCESS_TAG}-${index}-${spoolTag}`;
}

export function newSpoolTag(): string {
  return randomBytes(8).toString("hex");
}

/** True for the name of a file that a spool uses; false for a file in the pool. */
function isSpoolFileName(name: string): boolean {
  return NAME.test(name) && name.startsWith("spool");
}

/** Returns the path of the spool file that a blob reads, as a whole or in part; null for every other blob. */
export function spoolPathOf(blob: Blob): string | null {
  const path = "name" in blob && typeof blob.name === "string" ? blob.name : "";
  return isSpoolFileName(basename(path)) ? path : null;
}

/** Returns the name of a file in the pool. */
export function namePooledFile(name: string): string {
  return name.replace(/^spool/, "spare");
}

/** Reads from the name of a file which process created it. Returns null for a file that no spool created. */
function ownerOf(name: string): { isOwn: boolean; isOwnHost: boolean; processId: number } | null {
  const [, hostTag, processId, processTag] = NAME.exec(name) ?? [];
  if (processId === undefined) return null;
  return {
    isOwn: processTag === PROCESS_TAG,
    isOwnHost: hostTag === HOST_TAG,
    processId: Number(processId),
  };
}

const ORPHAN_AGE_MS = 24 * 60 * 60 * 1000;

/** Deletes orphaned temporary files and returns the number of deleted files. Call it once at start. */
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

/**
 * A process id has a meaning only on its own host. A file of another host or of a running process is an orphan when it
 * is old.
 */
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
