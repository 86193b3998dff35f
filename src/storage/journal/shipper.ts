import { unlinkSync } from "node:fs";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { DependencyError, type JournalRecord } from "../../gateway/ports.ts";
import type { Clock } from "../../lib/clock.ts";
import { sleep, withDeadline } from "../../lib/waiting.ts";
import type { FileJournal } from "./journal.ts";
import { postEntries, type Posting } from "./posting.ts";
import { segmentRefcounts } from "./segment-refcounts.ts";
import { readSegment, segmentPath } from "./segments.ts";

/**
 * Carries journaled charges into the ledger, in batches and in the background, and deletes segments that nothing
 * is needed of any more. During an outage it waits with bounded memory: what does not fit is read again from disk.
 */
export interface Shipper {
  /** Hears of each record as it is journaled. */
  onAppend(record: JournalRecord, segment: number, offset: number): void;
  start(journal: FileJournal): void;
  /** Posts all there is; answers false when the deadline (milliseconds from now) passed before. */
  flush(deadlineMs: number): Promise<boolean>;
  /** Charges that are journaled and not yet posted. */
  backlog(): number;
  /** Whether nothing that is journaled is needed any more, be it a charge or the checkpoint of a running request. */
  isSettled(): boolean;
  /** Begins no more background work; a batch under way may still end. */
  stop(): void;
}

export interface ShipperOptions extends Posting {
  folder: string;
  processId: string;
  clock: Clock;
  /** Most charges kept in memory; 20,000 unless told. */
  maxQueued?: number;
}

export function createShipper(options: ShipperOptions): Shipper {
  return new JournalShipper(options);
}

const INTERVAL_MS = 200;
const BATCH = 500;
const MAX_QUEUED = 20_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
/** A segment this large is ended early when all of it is posted, so that a restart has little to read again. */
const SETTLED_SEGMENT_BYTES = 4 * 1024 * 1024;

interface Waiting {
  entry: LedgerEntry;
  segment: number;
}

class JournalShipper implements Shipper {
  readonly #options: ShipperOptions;
  readonly #maxQueued: number;
  readonly #refcounts = segmentRefcounts();
  #journal: FileJournal | null = null;
  #queue: Waiting[] = [];
  #backlog = 0;
  /** Where the first charge that found no room in memory stands. */
  #unread: { segment: number; offset: number } | null = null;
  /** Segments nothing is needed of, once the database has them on disk. */
  #deletable: number[] = [];
  #round: Promise<void> | null = null;
  #timer: Timer | null = null;
  #isStopped = false;
  #backoffMs = 0;
  #nextTryAt = 0;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueued ?? MAX_QUEUED;
  }

  onAppend(record: JournalRecord, segment: number, offset: number): void {
    this.#refcounts.add(record, segment);
    if (record.type === "checkpoint") return;
    this.#backlog += 1;
    if (this.#unread) return;
    if (this.#queue.length >= this.#maxQueued) {
      this.#unread = { segment, offset };
      return;
    }
    this.#queue.push({ entry: record.entry, segment });
    if (this.#queue.length === BATCH) this.#kick();
  }

  start(journal: FileJournal): void {
    this.#journal = journal;
    this.#timer = setInterval(() => this.#kick(), INTERVAL_MS);
  }

  async flush(deadlineMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + deadlineMs;
    for (let restMs = deadlineMs; restMs > 0; restMs = deadline - clock.monotonic()) {
      this.#nextTryAt = 0;
      const hasEnded = await withDeadline(
        restMs,
        this.#kick().then(() => true),
        tooLate,
      ).catch(() => false);
      if (this.#backlog === 0) return true;
      if (hasEnded && this.#backoffMs > 0) await sleep(Math.min(restMs, FIRST_PAUSE_MS));
    }
    return this.#backlog === 0;
  }

  backlog(): number {
    return this.#backlog;
  }

  isSettled(): boolean {
    return this.#backlog === 0 && this.#refcounts.isSettled();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#isStopped = true;
  }

  #kick(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#round ??= this.#work().finally(() => (this.#round = null));
    return this.#round;
  }

  async #work(): Promise<void> {
    if (this.#options.clock.monotonic() < this.#nextTryAt) return;
    try {
      do await this.#postBatch();
      while (this.#queue.length >= BATCH || (this.#unread && this.#journal));
      this.#backoffMs = 0;
      await this.#deleteSettled();
    } catch (error) {
      this.#backoffMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#backoffMs * 2));
      this.#nextTryAt = this.#options.clock.monotonic() + this.#backoffMs;
      if (error instanceof DependencyError || this.#isStopped) return;
      this.#options.onProblem("journaled charges could not be posted", error);
    }
  }

  async #postBatch(): Promise<void> {
    if (this.#queue.length === 0) this.#readMore();
    const batch = this.#queue.slice(0, BATCH);
    if (batch.length === 0) return;
    const entries = batch.map((waiting) => waiting.entry);
    await postEntries(this.#options, this.#options.processId, entries);
    this.#queue.splice(0, batch.length);
    this.#backlog -= batch.length;
    for (const { segment } of batch) this.#refcounts.posted(segment);
  }

  /** Takes the next batch from disk, and goes back to hearing once it has caught up with the journal. */
  #readMore(): void {
    const { folder, onProblem } = this.#options;
    while (this.#unread && this.#journal) {
      const { segment, offset } = this.#unread;
      const onDamaged = (at: number) =>
        onProblem(`the running journal is damaged in segment ${segment} at byte ${at}`, null);
      for (const { record, end } of readSegment(segmentPath(folder, segment), offset, onDamaged)) {
        this.#unread = { segment, offset: end };
        if (record.type === "charge") this.#queue.push({ entry: record.entry, segment });
        if (this.#queue.length === BATCH) return;
      }
      this.#unread = segment < this.#journal.position().segment ? { segment: segment + 1, offset: 0 } : null;
    }
  }

  async #deleteSettled(): Promise<void> {
    const journal = this.#journal;
    if (!journal || this.#isStopped) return;
    if (journal.position().offset > SETTLED_SEGMENT_BYTES && this.#refcounts.isSettled()) journal.rotate();
    const { segment: current } = journal.position();
    // Segments behind the first unread charge are still to be walked through.
    const settled = this.#refcounts.takeSettled(Math.min(current, this.#unread?.segment ?? current));
    this.#deletable.push(...settled);
    if (this.#deletable.length === 0) return;
    await this.#options.persist();
    for (const segment of this.#deletable) unlinkSync(segmentPath(this.#options.folder, segment));
    this.#deletable = [];
  }
}

function tooLate(): Error {
  return new Error("the deadline has passed");
}
