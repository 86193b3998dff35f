/**
 * Loaded into the gateway by `--preload`. Every ten seconds this module writes counts that only the process itself can
 * make to the file in `SOAK_FIGURES`. A full collection comes first, so that only live objects are counted.
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
