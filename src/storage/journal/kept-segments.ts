import { readdirSync, renameSync, rmdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createPrivateFolder } from "../private-files.ts";
import { segmentName } from "./segments.ts";
import { systemClock } from "../../lib/clock.ts";

/**
 * Name of the folder of segments whose charges are posted. It is below the journals' root and contains a folder for
 * each ledger, and in that one for each process.
 */
export const KEPT = "posted";

/** Time for which segments are kept after posting. `KEPT_BYTES` limits the bytes of all processes of a machine. */
const KEPT_MS = 60 * 60_000;
const KEPT_BYTES = 256 * 1024 * 1024;

/** A posted segment. It is needed only if the database goes back to an earlier state. */
export interface KeptSegment {
  processId: string;
  /**
   * Number of the process's last batch when the segment was kept. A database without this batch may lack charges of the
   * segment.
   */
  batch: number;
  segment: number;
  path: string;
  bytes: number;
  /** Unix milliseconds. */
  keptAt: number;
}

/**
 * Segments that are kept for a while after they were posted, in case the database goes back to a state without their
 * charges. This happens when a lagging standby takes over or a backup is restored. All processes of a machine share the
 * kept segments.
 */
export interface KeptSegments {
  /** Returns the segments of one process or of all, each process's in the order in which they were written. */
  list(processId?: string): KeptSegment[];
  /** Moves segments from the folder of their journal to the kept segments. */
  keep(folder: string, processId: string, segments: readonly number[], batch: number): void;
  /**
   * Removes segments that are too old or beyond the size limit, if `isPosted` returns true for the segment. Returns the
   * processes that have no segments left.
   */
  sweep(isPosted: (segment: KeptSegment) => boolean): string[];
}

/** Opens the kept segments of one ledger. Their charges must never be posted to another ledger. */
export function keptSegments(root: string, ledgerId: string, maxBytes = KEPT_BYTES): KeptSegments {
  const folder = join(root, KEPT, ledgerId);
  const listOf = (processId: string): KeptSegment[] =>
    namesIn(join(folder, processId))
      .flatMap((name) => readKept(folder, processId, name))
      .toSorted((one, other) => one.segment - other.segment);
  const list = (processId?: string): KeptSegment[] =>
    processId === undefined ? namesIn(folder).flatMap(listOf) : listOf(processId);
  return {
    list,
    keep(from, processId, segments, batch) {
      if (segments.length === 0) return;
      const own = join(folder, processId);
      createPrivateFolder(own, { isOwn: true });
      const now = new Date(systemClock.now());
      for (const segment of segments) {
        const path = join(from, segmentName(segment));
        try {
          utimesSync(path, now, now);
          renameSync(path, join(own, `${batch}-${segmentName(segment)}`));
        } catch (error) {
          // When somebody has removed a segment, the other segments are moved nevertheless.
          if (!isMissing(error)) throw error;
        }
      }
    },
    sweep(isPosted) {
      const all = list().toSorted((one, other) => one.keptAt - other.keptAt || one.segment - other.segment);
      let bytes = all.reduce((sum, segment) => sum + segment.bytes, 0);
      const oldest = systemClock.now() - KEPT_MS;
      for (const segment of all) {
        if (segment.keptAt >= oldest && bytes <= maxBytes) break;
        if (!isPosted(segment)) continue;
        rmSync(segment.path, { force: true });
        bytes -= segment.bytes;
      }
      return namesIn(folder).filter((processId) => removeEmpty(join(folder, processId)));
    },
  };
}

const KEPT_NAME = /^(\d+)-(\d{8})\.log$/;

function readKept(folder: string, processId: string, name: string): KeptSegment[] {
  const [, batch, segment] = KEPT_NAME.exec(name) ?? [];
  const path = join(folder, processId, name);
  // Another process of this machine may just have removed the file.
  const stat = statSync(path, { throwIfNoEntry: false });
  if (batch === undefined || segment === undefined || !stat) return [];
  const { size: bytes, mtimeMs: keptAt } = stat;
  return [{ processId, batch: Number(batch), segment: Number(segment), path, bytes, keptAt }];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Removes a folder if it is empty; returns true when the folder was removed. */
function removeEmpty(folder: string): boolean {
  if (namesIn(folder).length > 0) return false;
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
