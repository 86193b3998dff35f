import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Mounts a disk in memory at a folder, of a size such as `512k`. Returns false when mounting is impossible. */
export function mountSmallDisk(folder: string, size: string): boolean {
  return Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]).success;
}

/** True when a disk can be mounted. Otherwise tests of full disks are skipped. */
export const canMount = probeMount();

function probeMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "gateway-mount-"));
  const isMounted = mountSmallDisk(folder, "64k");
  if (isMounted) Bun.spawnSync(["umount", folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
}

/** Fills a disk completely, by a single file. */
export function fillDisk(path: string): void {
  writeFileSync(path, "");
  for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch {
      // A smaller piece may still fit.
    }
  }
}
