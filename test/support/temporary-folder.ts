import { afterAll } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/*
 * Loaded before every test file. Tests, servers and browsers write temporary files to a folder in memory, if there is
 * space. A database on a disk would need three times the processor time. The folder is removed after the tests. A
 * TMPDIR of the environment has priority.
 */
const MEMORY = "/dev/shm";
const NEEDED_BYTES = 4 * 2 ** 30;
const PREFIX = "gateway-tests-";

if (process.env.TMPDIR === undefined && hasSpace()) {
  removeLeftovers();
  const folder = join(MEMORY, `${PREFIX}${process.pid}`);
  // Servers that refuse to run as root have another user, who must be able to read the folder.
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

/** Removes the folders of killed processes, with the small disks mounted in them. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || existsSync(`/proc/${name.slice(PREFIX.length)}`)) continue;
    const folder = join(MEMORY, name);
    for (const disk of mountsIn(folder)) Bun.spawnSync(["umount", disk]);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // Another test process may remove the folder at the same time.
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
