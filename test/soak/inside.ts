/**
 * The gateway loads this module by `--preload`. Every ten seconds the module writes counts of the process's objects to
 * the file in `SOAK_FIGURES`. A garbage collection comes first, so that only live objects count.
 */
import { heapStats } from "bun:jsc";
import { writeFileSync } from "node:fs";

export interface InsideFigures {
  heapMb: number;
  objects: number;
  timers: number;
  promises: number;
}

const INTERVAL_MS = 10_000;
const path = process.env["SOAK_FIGURES"];

if (path && Bun.isMainThread) {
  setInterval(() => {
    Bun.gc(true);
    const { heapSize, objectCount, objectTypeCounts } = heapStats();
    const figures: InsideFigures = {
      heapMb: heapSize / 1e6,
      objects: objectCount,
      timers: (objectTypeCounts["Timeout"] ?? 0) + (objectTypeCounts["Immediate"] ?? 0),
      promises: objectTypeCounts["Promise"] ?? 0,
    };
    writeFileSync(path, JSON.stringify(figures));
  }, INTERVAL_MS).unref();
}
