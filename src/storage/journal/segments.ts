import { closeSync, openSync, readdirSync, readSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { JournalRecord } from "../../gateway/metering/stores.ts";
import { readLine } from "./record-line.ts";

/** Returns the path of a segment. The segments of a journal are numbered from 1 in the order of writing. */
export function segmentPath(folder: string, segment: number): string {
  return join(folder, segmentName(segment));
}

export function segmentName(segment: number): string {
  return `${String(segment).padStart(8, "0")}.log`;
}

export function isSegmentName(name: string): boolean {
  return /^\d{8}\.log$/.test(name);
}

/** Returns the numbers of the segments in a folder, ascending. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder)
    .filter(isSegmentName)
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => one - other);
}

/** The number of a segment, and its path. */
interface SegmentFile {
  segment: number;
  path: string;
}

export function segmentFiles(folder: string): SegmentFile[] {
  return listSegments(folder).map((segment) => ({ segment, path: segmentPath(folder, segment) }));
}

/** A record, and the position in its segment at which it ends. */
interface PlacedRecord {
  record: JournalRecord;
  end: number;
}

const READ_BYTES = 256 * 1024;

/**
 * Reads the records of a segment from an offset on. Skips damaged lines and passes them to `onDamaged`. An incomplete
 * last line is not a record.
 */
export function* readSegment(
  path: string,
  offset: number,
  onDamaged: (offset: number) => void,
): Generator<PlacedRecord> {
  const file = openSync(path, "r");
  try {
    let rest = Buffer.alloc(0);
    let start = offset;
    for (;;) {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      const length = readSync(file, chunk, 0, READ_BYTES, start + rest.length);
      if (length === 0) return;
      rest = Buffer.concat([rest, chunk.subarray(0, length)]);
      let from = 0;
      for (let to = rest.indexOf(LINE_FEED); to !== -1; to = rest.indexOf(LINE_FEED, from)) {
        const record = readLine(rest.subarray(from, to));
        if (record) yield { record, end: start + to + 1 };
        else if (to > from) onDamaged(start + from);
        from = to + 1;
      }
      rest = rest.subarray(from);
      start += from;
    }
  } finally {
    closeSync(file);
  }
}

const LINE_FEED = 10;

/**
 * Yields the final records of an ended process's journal: every charge, and the last checkpoint of each request without
 * a later charge. An incomplete last line is cut off; a segment with damage stays unchanged.
 */
export function* replay(
  files: readonly SegmentFile[],
  onDamaged: (segment: number, offset: number, cause: unknown) => void,
): Generator<JournalRecord> {
  const open = new Map<string, JournalRecord>();
  for (const { segment, path } of files) {
    let end = 0;
    let isDamaged = false;
    const report = (offset: number, cause: unknown = null) => {
      isDamaged = true;
      onDamaged(segment, offset, cause);
    };
    for (const placed of readable(readSegment(path, 0, report), (cause) => report(end, cause))) {
      const { record } = placed;
      end = placed.end;
      if (record.type === "checkpoint") {
        open.set(record.entry.id, record);
        continue;
      }
      open.delete(record.entry.id);
      yield record;
    }
    if (!isDamaged) truncateSync(path, end);
  }
  yield* open.values();
}

/** Yields the records. Ends early, without an error, at a part of the disk that cannot be read. */
function* readable(
  records: Generator<PlacedRecord>,
  onUnreadable: (cause: unknown) => void,
): Generator<PlacedRecord> {
  try {
    yield* records;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && UNREADABLE.has(error.code))) throw error;
    onUnreadable(error);
  }
}

const UNREADABLE: ReadonlySet<unknown> = new Set(["EIO", "EACCES", "EPERM", "EISDIR", "EBADMSG"]);
