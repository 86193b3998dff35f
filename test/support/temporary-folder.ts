import { afterAll } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
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

/** Of processes that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (name.startsWith(PREFIX) && !existsSync(`/proc/${name.slice(PREFIX.length)}`)) {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
  }
}
