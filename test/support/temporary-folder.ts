import { afterAll } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/**
 * Loaded before every test file: where memory has space, temporary files of tests, and of the servers and browsers they
 * start, go to a folder there, which is removed at the end with all that was left in it. A database on a disk costs three
 * times the processor time. A TMPDIR that was set by hand stays.
 */
const MEMORY = "/dev/shm";
const NEEDED_BYTES = 4 * 2 ** 30;
const PREFIX = "gateway-tests-";

if (process.env.TMPDIR === undefined && hasSpace()) {
  removeLeftovers();
  const folder = join(MEMORY, `${PREFIX}${process.pid}`);
  // Servers that refuse to run as root have a user of their own.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  process.env.TMPDIR = folder;
  afterAll(() => {
    delete process.env.TMPDIR;
    rmSync(folder, { recursive: true, force: true });
  });
}

function hasSpace(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= NEEDED_BYTES;
}

/** Of processes that were killed, with the small disks that they have mounted there. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || existsSync(`/proc/${name.slice(PREFIX.length)}`)) continue;
    const folder = join(MEMORY, name);
    for (const disk of mountsIn(folder)) Bun.spawnSync(["umount", disk]);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // Another test process may be at it, too.
      if (existsSync(folder)) console.warn(`${folder} of an ended test stays:`, error);
    }
  }
}

function mountsIn(folder: string): string[] {
  const places = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  return places.filter((place) => place.startsWith(`${folder}/`));
}
