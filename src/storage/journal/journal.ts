import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Journal, JournalRecord } from "../../gateway/metering/stores.ts";
import { systemClock } from "../../lib/clock.ts";
import { type OutageReport, type StorageReport, outageReport } from "../report.ts";
import { RecordLines } from "./record-line.ts";
import { segmentPath } from "./segments.ts";
import { after } from "../../lib/waiting.ts";

/**
 * The journal on the local disk. Each record is one write to the operating system, so no record that was written is
 * lost when the process ends. A sync to the disk begins within 50 ms. A charge that the disk refuses may be kept in
 * memory until it can be written (`onRefused`).
 */
export interface FileJournal extends Journal {
  /** Returns the segment that is being written and its length in bytes. */
  position(): { segment: number; offset: number };
  /** True while the disk accepts records. After a failure, tries again at most once a second. */
  isWritable(): boolean;
  /** Begins a new segment. */
  rotate(): void;
  /** Syncs everything written to the disk. Also resolves when the sync fails; the failure is reported. */
  sync(): Promise<void>;
  /** Refuses further records, syncs the last segment to the disk and closes it. May be called more than once. */
  close(): Promise<void>;
}

interface JournalOptions {
  /** An existing folder that no other process writes to. */
  folder: string;
  /**
   * Called with each record after it is written, with its position and its line. The line is valid only during the
   * call. Must not throw.
   */
  onAppend: (record: JournalRecord, segment: number, offset: number, line: Uint8Array) => void;
  /** Called with a charge that the disk refuses. `append` throws when this is absent or returns false. */
  onRefused?: (entry: LedgerEntry) => boolean;
  onProblem: StorageReport;
  /** Size after which a new segment begins; 64 MiB by default. */
  segmentBytes?: number;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;
const SYNC_PAUSE_MS = 50;
const RETRY_PAUSE_MS = 1000;

const syncData = promisify(fdatasync);

export function openJournal(options: JournalOptions): FileJournal {
  return new SegmentedJournal(options);
}

class SegmentedJournal implements FileJournal {
  readonly #options: JournalOptions;
  readonly #segmentBytes: number;
  readonly #lines = new RecordLines();
  #segment = 1;
  #file: number;
  /** Number of bytes of complete records. Bytes after these records are the incomplete end of a failed write. */
  #offset = 0;
  #failure: { error: unknown; at: number } | null = null;
  readonly #outage: OutageReport;
  #cancelSync: (() => void) | null = null;
  /** Background operations on files. They run one after another, so that no file is closed while it is being synced. */
  #background: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  constructor(options: JournalOptions) {
    this.#options = options;
    const lost = `the journal in ${options.folder} cannot be written: charges are kept in memory, new requests are refused`;
    this.#outage = outageReport({ lost, available: "the journal can be written again" }, options.onProblem);
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#file = openSync(segmentPath(options.folder, this.#segment), "ax", 0o600);
    this.#syncFolder();
  }

  append(record: JournalRecord): void {
    // After `close`, the file descriptor may belong to another file.
    if (this.#closing) throw new Error("the journal is closed");
    this.#lines.clear();
    const line = this.#lines.write(record);
    let start: number;
    try {
      if (this.#failure) this.#repair();
      if (this.#offset >= this.#segmentBytes) this.rotate();
      start = this.#offset;
      this.#write(line);
      this.#offset += line.length;
      this.#outage.available();
    } catch (error) {
      if (record.type === "charge" && this.#options.onRefused?.(record.entry)) return;
      throw error;
    }
    this.#cancelSync ??= after(SYNC_PAUSE_MS, () => this.#startSync());
    this.#options.onAppend(record, this.#segment, start, line);
  }

  position() {
    return { segment: this.#segment, offset: this.#offset };
  }

  isWritable(): boolean {
    if (this.#closing) return false;
    if (!this.#failure) return true;
    if (systemClock.monotonic() - this.#failure.at < RETRY_PAUSE_MS) return false;
    try {
      this.#repair();
      this.#write(PROBE);
      ftruncateSync(this.#file, this.#offset);
      this.#outage.available();
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  refusal(): string | null {
    if (!this.#failure) return null;
    const { error } = this.#failure;
    const reason = error instanceof Error ? error.message : String(error);
    return `the journal in ${this.#options.folder} cannot be written: ${reason}`;
  }

  rotate(): void {
    const next = openSync(segmentPath(this.#options.folder, this.#segment + 1), "ax", 0o600);
    const previous = this.#file;
    this.#file = next;
    this.#segment += 1;
    this.#offset = 0;
    this.#inBackground(async () => {
      try {
        await syncData(previous);
      } finally {
        closeSync(previous);
      }
    });
    this.#syncFolder();
  }

  async sync(): Promise<void> {
    if (this.#closing) return this.#closing;
    this.#startSync();
    await this.#background;
  }

  close(): Promise<void> {
    this.#closing ??= this.sync().then(() => closeSync(this.#file));
    return this.#closing;
  }

  #write(bytes: Uint8Array): void {
    try {
      // When the disk accepts only a part of the bytes, the next write fails with the reason.
      for (let written = 0; written < bytes.length;)
        written += writeSync(this.#file, bytes, written, bytes.length - written);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error, at: systemClock.monotonic() };
    this.#outage.lost(error);
  }

  /** Cuts off the incomplete end that a failed write has left, so that the next record begins a new line. */
  #repair(): void {
    if (fstatSync(this.#file).size > this.#offset) ftruncateSync(this.#file, this.#offset);
    this.#failure = null;
  }

  #startSync(): void {
    this.#cancelSync?.();
    this.#cancelSync = null;
    this.#inBackground(() => syncData(this.#file));
  }

  #syncFolder(): void {
    this.#inBackground(async () => {
      const folder = openSync(this.#options.folder, "r");
      try {
        await syncData(folder);
      } finally {
        closeSync(folder);
      }
    });
  }

  #inBackground(work: () => Promise<void>): void {
    this.#background = this.#background.then(work).catch((error: unknown) => {
      this.#options.onProblem("the journal could not be synced to disk", error);
      this.#fail(error);
    });
  }
}

/**
 * Empty lines that test a disk. A shorter text could be written to a full disk, because it would fit into the rest of
 * the last block. Readers ignore empty lines.
 */
const PROBE = Buffer.alloc(64 * 1024, "\n");
