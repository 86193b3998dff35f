import type { ApiKey } from "../../domain/api-key.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { Directory, Snapshot } from "../../gateway/snapshot.ts";
import type { Clock } from "../../lib/clock.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { outageReport, type OutageReport, type StorageReport } from "../report.ts";
import { keyFactory } from "./api-keys.ts";
import { currentRevision } from "../tables/change.ts";
import { budgetsByKey, buildDirectory, type ConfiguredTables, type Stored } from "./directory.ts";
import { keyCache, snapshotSource, type SnapshotSource } from "./snapshot-source.ts";
import type { Database } from "../database/sql.ts";
import type { ChangeKind } from "../../admin/audit/schema.ts";
import type { KeyRecord } from "../../admin/keys/schema.ts";

/**
 * The data in memory that requests are checked against. A change in the database is noticed within half a second. While
 * the database is unavailable, the known data stays in force for a quarter of an hour.
 */
export interface LiveSnapshot extends Snapshot, BackgroundWork {
  /** Reads changes now and puts them in force. Throws a `DependencyError` when the database is unavailable. */
  refresh(): Promise<void>;
  /** From now on, calls `listener` with the ids of budgets that were created, changed or removed. */
  onBudgetsChanged(listener: (budgets: readonly string[]) => void): void;
  /** Awaits `listener` when channels or models were changed in the database, before the revision counts as loaded. */
  onConfigurationChanged(listener: () => Promise<void>): void;
  /** Replaces the configured part, which is used from the next request on. */
  reconfigure(configured: ConfiguredTables): void;
  /** Returns the milliseconds since the database last confirmed the data in memory. */
  ageMs(): number;
  /** Returns the number of the last administrative change that is in force in this process. */
  revision(): number;
  /** False after a poll that could not reach the database, until a poll succeeds. */
  isDatabaseUp(): boolean;
}

interface SnapshotOptions {
  configured: ConfiguredTables;
  clock: Clock;
  onProblem: StorageReport;
  /** Called when the link secrets have changed. The change is in force only after the call has succeeded. */
  onLinkSecretRotated?: () => Promise<void>;
  /** Maximum number of cached keys; 100,000 by default. */
  maxKeys?: number;
}

const POLL_MS = 500;
const LIFETIME_MS = 15 * 60_000;
const MAX_KEYS = 100_000;
const PRELOADED_KEYS = 10_000;
const UNKNOWN_MS = 5000;
const MAX_UNKNOWN = 10_000;

const DATABASE = {
  lost: "the database is away: known keys are served, charges wait in the journal",
  available: "the database is available again",
};
const REFRESH = {
  lost: "the snapshot could not be refreshed",
  available: "the snapshot is refreshed again",
};
const ALL_KINDS = new Set<ChangeKind>(["organization", "price", "budget", "link secret", "channel", "model"]);
const NO_BUDGETS: readonly string[] = [];

/** Loads the first state and starts to poll. Throws a `DependencyError` when the database is unavailable. */
export async function openSnapshot(database: Database, options: SnapshotOptions): Promise<LiveSnapshot> {
  const snapshot = new PolledSnapshot(database, options);
  await snapshot.load();
  return snapshot;
}

class PolledSnapshot implements LiveSnapshot {
  readonly #database: Database;
  readonly #options: SnapshotOptions;
  readonly #source: SnapshotSource;
  readonly #keys;
  readonly #make;
  /** Hashes that belong to no key, each with the time until which this is assumed (monotonic milliseconds). */
  readonly #unknown = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<ApiKey | null>>();
  #configured: ConfiguredTables;
  #stored: Stored = { organizations: [], prices: [], budgets: [] };
  #keyBudgets = new Map<string, string[]>();
  #directory: Directory;
  #revision = -1n;
  /** The newest revision seen. A lookup that began before this revision was seen may have read an older row. */
  #seenRevision = -1n;
  #confirmedAt = 0;
  #polling: Promise<void> | null = null;
  #timer: BackgroundWork | null = null;
  readonly #outage: OutageReport;
  /** Reports polls that fail although the database responds, for example because a table is missing. */
  readonly #refusal: OutageReport;
  #budgetListener: (budgets: readonly string[]) => void = () => {};
  #configurationListener: () => Promise<void> = async () => {};

  constructor(database: Database, options: SnapshotOptions) {
    this.#database = database;
    this.#options = options;
    this.#configured = options.configured;
    this.#source = snapshotSource(database);
    this.#keys = keyCache(options.maxKeys ?? MAX_KEYS);
    this.#make = keyFactory((message) => options.onProblem(message, null));
    this.#directory = this.#build();
    this.#outage = outageReport(DATABASE, options.onProblem);
    this.#refusal = outageReport(REFRESH, options.onProblem);
  }

  async load(): Promise<void> {
    await this.refresh();
    const preloaded = Math.min(PRELOADED_KEYS, this.#options.maxKeys ?? MAX_KEYS);
    const records = await this.#source.latestKeys(preloaded);
    for (const record of records) this.#keys.put(record.hash, this.#makeKey(record));
    this.#timer = every(
      POLL_MS,
      async () => {
        await (this.#polling ?? this.#startPoll());
        this.#outage.available();
        this.#refusal.available();
      },
      (error) => (error instanceof DependencyError ? this.#outage : this.#refusal).lost(error),
    );
  }

  directory(): Directory {
    return this.#directory;
  }

  key(hash: string, onLookup?: () => void): ApiKey | null | Promise<ApiKey | null> {
    if (this.ageMs() > LIFETIME_MS) throw new DependencyError("the snapshot is too old to be trusted");
    const known = this.#keys.get(hash);
    if (known) return known;
    if ((this.#unknown.get(hash) ?? 0) > this.#options.clock.monotonic()) return null;
    const running = this.#lookups.get(hash);
    if (running) return running;
    onLookup?.();
    const lookup = this.#lookUp(hash).finally(() => this.#lookups.delete(hash));
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  async refresh(): Promise<void> {
    // A new poll follows, because a running poll may have read the revision before the caller's change was made.
    while (this.#polling) await this.#polling.catch(() => undefined);
    await this.#startPoll();
  }

  onBudgetsChanged(listener: (budgets: readonly string[]) => void): void {
    this.#budgetListener = listener;
  }

  onConfigurationChanged(listener: () => Promise<void>): void {
    this.#configurationListener = listener;
  }

  reconfigure(configured: ConfiguredTables): void {
    this.#configured = configured;
    this.#directory = this.#build();
  }

  ageMs(): number {
    return this.#options.clock.monotonic() - this.#confirmedAt;
  }

  revision(): number {
    return Number(this.#revision);
  }

  isDatabaseUp(): boolean {
    return !this.#outage.isLost;
  }

  async stop(): Promise<void> {
    await this.#timer?.stop();
  }

  #startPoll(): Promise<void> {
    this.#polling = this.#poll().finally(() => (this.#polling = null));
    return this.#polling;
  }

  async #poll(): Promise<void> {
    const calledAt = this.#options.clock.monotonic();
    const revision = await currentRevision(this.#database);
    if (revision !== this.#revision) await this.#catchUp(revision);
    this.#confirmedAt = calledAt;
  }

  async #catchUp(revision: bigint): Promise<void> {
    this.#seenRevision = revision;
    this.#unknown.clear();
    const isFirst = this.#revision < 0n || revision < this.#revision;
    // A database with an earlier revision was restored from a copy, so everything is read again.
    if (isFirst) this.#keys.clear();
    const kinds = isFirst ? ALL_KINDS : await this.#source.changedKinds(this.#revision, revision);
    const stored = await this.#source.load(kinds, this.#stored);
    if (kinds.has("budget")) {
      this.#reassignBudgets(stored);
      const changed = isFirst
        ? this.#stored.budgets.map(({ id }) => id)
        : await this.#source.changedBudgets(this.#revision, revision);
      this.#budgetListener(changed);
    }
    if (kinds.has("channel") || kinds.has("model")) await this.#configurationListener();
    if (kinds.has("link secret")) await this.#options.onLinkSecretRotated?.();
    if (kinds.has("key")) {
      for await (const page of this.#source.changedKeys(this.#revision, revision)) {
        for (const record of page) this.#keys.refresh(record.hash, this.#makeKey(record));
      }
    }
    if (stored.organizations !== this.#stored.organizations || kinds.has("price") || kinds.has("budget")) {
      this.#stored = stored;
      this.#directory = this.#build();
    }
    this.#revision = revision;
  }

  #build(): Directory {
    return buildDirectory(this.#configured, this.#stored, (message) =>
      this.#options.onProblem(message, null),
    );
  }

  #makeKey(record: KeyRecord): ApiKey {
    return this.#make.make(record, this.#keyBudgets.get(record.id) ?? NO_BUDGETS);
  }

  #reassignBudgets(stored: Stored): void {
    const before = this.#keyBudgets;
    this.#keyBudgets = budgetsByKey(stored.budgets);
    if (before.size === 0 && this.#keyBudgets.size === 0) return;
    this.#keys.update((key) => {
      const budgets = this.#keyBudgets.get(key.id) ?? NO_BUDGETS;
      return Bun.deepEquals(budgets, key.budgets) ? key : { ...key, budgets };
    });
  }

  async #lookUp(hash: string): Promise<ApiKey | null> {
    for (;;) {
      const seen = this.#seenRevision;
      const record = await this.#source.findKey(hash);
      if (seen !== this.#seenRevision) continue;
      if (record) {
        const key = this.#makeKey(record);
        this.#keys.put(hash, key);
        return key;
      }
      this.#rememberUnknown(hash);
      return null;
    }
  }

  #rememberUnknown(hash: string): void {
    const oldest = this.#unknown.keys().next();
    if (this.#unknown.size >= MAX_UNKNOWN && !oldest.done) this.#unknown.delete(oldest.value);
    this.#unknown.set(hash, this.#options.clock.monotonic() + UNKNOWN_MS);
  }
}
