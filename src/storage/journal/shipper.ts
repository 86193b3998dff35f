import type { LedgerEntry } from "../../domain/ledger.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";
import { every, sleep, withDeadline, type BackgroundWork } from "../../lib/waiting.ts";
import { Batch, RecordLines } from "./record-line.ts";
import { notePosted } from "./journal-folder.ts";
import type { FileJournal } from "./journal.ts";
import { lostCharges, type LostCharges, type LostChargesOptions } from "./lost-charges.ts";
import { readSegment, segmentPath } from "./segments.ts";

/**
 * Posts journaled charges to the ledger in the background, in batches, and moves segments that are no longer needed to
 * the kept segments. Memory is limited during an outage: charges beyond the limit are read from disk again. If the
 * database was set back to an earlier state, posts again all charges that are still on disk.
 */
export interface Shipper extends BackgroundWork {
  /** Call this for each journaled record, with its position and its line. */
  onAppend(record: JournalRecord, segment: number, offset: number, line: Uint8Array): void;
  /** Keeps a refused charge in memory until the disk or the ledger accepts it. Returns false when the memory is full. */
  keep(entry: LedgerEntry): boolean;
  /** Posts everything. Returns false when the deadline (milliseconds from now) has passed before the end. */
  flush(deadlineMs: number): Promise<boolean>;
  /** Returns the number of charges that are not posted yet. */
  backlog(): number;
  /** The charges that the database had lost and that were posted again. */
  readonly lost: Pick<LostCharges, "count">;
  /** True when the journal contains neither an unposted charge nor the checkpoint of a running request. */
  isSettled(): boolean;
  /** Returns the number of the last posted batch. */
  lastBatch(): number;
}

export interface ShipperOptions extends LostChargesOptions {
  /** Resolves when everything posted so far would survive a loss of power. Only then may segments be moved. */
  persist(): Promise<void>;
  /**
   * Returns the journal whose charges are posted. It is first called after `startShipper` has returned, so the journal
   * may be opened after the shipper.
   */
  journal: () => FileJournal;
  /** Maximum number of charges in memory; 20,000 by default. */
  maxQueued?: number;
}

export function startShipper(options: ShipperOptions): Shipper {
  return new JournalShipper(options);
}

const INTERVAL_MS = 200;
const BATCH = 500;
const MAX_QUEUED = 20_000;
/**
 * Maximum number of charges in memory that the disk has refused. This limit should never be reached, because fewer
 * requests run at the same time, and new requests are refused while the disk is full.
 */
const MAX_KEPT = 10_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5000;
/** A segment of this size is closed early when all its charges are posted, so that a restart reads little again. */
const SETTLED_SEGMENT_BYTES = 4 * 1024 * 1024;

class JournalShipper implements Shipper {
  readonly #options: ShipperOptions;
  readonly #maxQueued: number;
  readonly #refcounts = segmentRefcounts();
  readonly lost: LostCharges;
  readonly #timer: BackgroundWork;
  /** Batches in the order of the journal. Charges are added only to the last one. */
  #queue: Batch[] = [];
  #queued = 0;
  #backlog = 0;
  /** Charges that are not on any disk. */
  #kept: LedgerEntry[] = [];
  /** Position on disk of the first charge that is not in memory; null when all unposted charges are in memory. */
  #unread: { segment: number; offset: number } | null = null;
  /** Segments that are moved to the kept segments once the database has their charges on disk. */
  #settled: number[] = [];
  #lastBatch = 0;
  #isFlushing = false;
  #round: Promise<void> | null = null;
  #isStopped = false;
  #backoffMs = 0;
  #nextTryAt = 0;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.lost = lostCharges(options);
    this.#maxQueued = options.maxQueued ?? MAX_QUEUED;
    const work = () => this.#kick();
    this.#timer = every(INTERVAL_MS, work, () => undefined);
  }

  onAppend(record: JournalRecord, segment: number, offset: number, line: Uint8Array): void {
    this.#refcounts.add(record, segment);
    if (record.type === "checkpoint") return;
    this.#backlog += 1;
    if (this.#unread) return;
    if (this.#queued >= this.#maxQueued) {
      this.#unread = { segment, offset };
      return;
    }
    const batch = this.#batchFor(segment);
    batch.add(line);
    if (batch.count === BATCH) void this.#kick();
  }

  keep(entry: LedgerEntry): boolean {
    if (this.#kept.length >= MAX_KEPT) return false;
    this.#kept.push(entry);
    return true;
  }

  async flush(deadlineMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + deadlineMs;
    for (let restMs = deadlineMs; restMs > 0; restMs = deadline - clock.monotonic()) {
      this.#nextTryAt = 0;
      this.#isFlushing = true;
      const round = this.#kick().then(() => true);
      const hasEnded = await withDeadline(restMs, round, tooLate).catch(() => false);
      if (this.backlog() === 0) return true;
      if (hasEnded && this.#backoffMs > 0) await sleep(Math.min(restMs, FIRST_BACKOFF_MS));
    }
    return this.backlog() === 0;
  }

  backlog(): number {
    return this.#backlog + this.#kept.length;
  }

  isSettled(): boolean {
    return this.backlog() === 0 && this.#refcounts.isSettled();
  }

  lastBatch(): number {
    return this.#lastBatch;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#timer.stop();
    await this.#round;
    if (this.#kept.length === 0) return;
    const ids = this.#kept.map(({ id }) => id).join(" ");
    this.#options.onProblem(`charges are lost that neither disk nor database took: ${ids}`, null);
  }

  #kick(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    // The round begins asynchronously, so that `this.#round` is set first. When the round journals a charge, this
    // method is called again and must find the running round.
    this.#round ??= Promise.resolve()
      .then(() => this.#work())
      .finally(() => (this.#round = null));
    return this.#round;
  }

  async #work(): Promise<void> {
    if (this.#options.clock.monotonic() < this.#nextTryAt) return;
    try {
      await this.#placeKept();
      do await this.#postBatch();
      while ((this.#queue[0]?.count ?? 0) >= BATCH || this.#unread);
      await this.lost.find(this.#lastBatch, this.#isFlushing);
      this.#isFlushing = false;
      this.#backoffMs = 0;
      await this.#keepSettled();
    } catch (error) {
      this.#backoffMs = Math.min(MAX_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, this.#backoffMs * 2));
      this.#nextTryAt = this.#options.clock.monotonic() + this.#backoffMs;
      if (error instanceof DependencyError || this.#isStopped) return;
      this.#options.onProblem("journaled charges could not be posted", error);
    }
  }

  /** Journals kept charges as soon as the disk accepts them. Until then, posts the charges directly from memory. */
  async #placeKept(): Promise<void> {
    if (this.#kept.length === 0) return;
    const journal = this.#options.journal();
    for (const entry of this.#kept.slice()) {
      if (!journal.isWritable()) break;
      // If the disk refuses the entry once more, `append` adds the entry at the end of `#kept`.
      journal.append({ type: "charge", entry });
      this.#kept.shift();
    }
    while (this.#kept.length > 0) {
      const batch = this.#kept.slice(0, BATCH);
      const lines = new RecordLines();
      for (const entry of batch) lines.write({ type: "charge", entry });
      await this.#post(lines);
      this.#kept.splice(0, batch.length);
      const { segment } = journal.position();
      // The checkpoints of these entries in the journal are no longer needed.
      for (const entry of batch) this.#refcounts.add({ type: "charge", entry }, segment);
      this.#refcounts.posted(segment, batch.length);
    }
  }

  async #postBatch(): Promise<void> {
    if (this.#queued === 0) this.#readMore();
    const [batch] = this.#queue;
    if (!batch) return;
    // Charges that arrive during the posting go to the next batch.
    if (this.#queue.length === 1) this.#queue.push(new Batch());
    await this.#post(batch);
    this.#queue.shift();
    if (this.#queue[0]?.count === 0) this.#queue.length = 0;
    this.#queued -= batch.count;
    this.#backlog -= batch.count;
    for (const [segment, count] of batch.segments) this.#refcounts.posted(segment, count);
  }

  async #post({ bytes }: RecordLines): Promise<void> {
    await this.#options.writer.post(this.#options.processId, bytes, this.#lastBatch + 1);
    this.#lastBatch += 1;
    notePosted(this.#options.folder, this.#lastBatch);
  }

  /** Returns the batch to which the next charge, from this segment, is added. */
  #batchFor(segment: number): Batch {
    let last = this.#queue.at(-1);
    if (!last || last.count === BATCH) this.#queue.push((last = new Batch()));
    last.countIn(segment);
    this.#queued += 1;
    return last;
  }

  /**
   * Reads the next batch from disk. Later charges are added by `onAppend` again once the end of the journal is reached.
   */
  #readMore(): void {
    const { folder, onProblem, journal } = this.#options;
    while (this.#unread) {
      const { segment, offset } = this.#unread;
      const onDamaged = (at: number) =>
        onProblem(`the running journal is damaged in segment ${segment} at byte ${at}`, null);
      for (const { record, end } of readSegment(segmentPath(folder, segment), offset, onDamaged)) {
        this.#unread = { segment, offset: end };
        if (record.type === "charge") this.#batchFor(segment).write(record);
        if (this.#queued === BATCH) return;
      }
      this.#unread = segment < journal().position().segment ? { segment: segment + 1, offset: 0 } : null;
    }
  }

  async #keepSettled(): Promise<void> {
    if (this.#isStopped) return;
    const { folder, processId, kept, persist } = this.#options;
    const journal = this.#options.journal();
    if (journal.position().offset > SETTLED_SEGMENT_BYTES && this.#refcounts.isSettled()) journal.rotate();
    this.#settled.push(...this.#refcounts.takeSettled(journal.position().segment));
    if (this.#settled.length > 0) await persist();
    kept.keep(folder, processId, this.#settled, this.#lastBatch);
    this.#settled = [];
  }
}

function tooLate(): Error {
  return new Error("the deadline has passed");
}

/**
 * Counts for each segment of a running journal the records that are still needed: charges that are not in the database,
 * and checkpoints of running requests.
 */
export interface SegmentRefcounts {
  add(record: JournalRecord, segment: number): void;
  /** Records that `count` charges of a segment are in the database. */
  posted(segment: number, count: number): void;
  /** True when no segment is needed any more. */
  isSettled(): boolean;
  /** Removes and returns the segments before `current` that are no longer needed. */
  takeSettled(current: number): number[];
}

export function segmentRefcounts(): SegmentRefcounts {
  const needs = new Map<number, number>();
  const checkpoints = new Map<string, number>();
  const add = (segment: number, count: number) => {
    needs.set(segment, (needs.get(segment) ?? 0) + count);
  };
  return {
    add({ type, entry }, segment) {
      const before = checkpoints.get(entry.id);
      if (before !== undefined) add(before, -1);
      add(segment, 1);
      if (type === "checkpoint") checkpoints.set(entry.id, segment);
      else if (before !== undefined) checkpoints.delete(entry.id);
    },
    posted: (segment, count) => add(segment, -count),
    isSettled: () => needs.values().every((count) => count === 0),
    takeSettled(current) {
      const settled = [...needs].filter(([segment, count]) => count === 0 && segment < current);
      for (const [segment] of settled) needs.delete(segment);
      return settled.map(([segment]) => segment);
    },
  };
}
