import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DependencyError } from "../gateway/ports.ts";
import { systemClock } from "../lib/clock.ts";
import { atMost } from "./at-most.ts";
import { startCheckpoints } from "./checkpoints.ts";
import type { Configured } from "./directory.ts";
import { openJournal, type FileJournal } from "./journal.ts";
import { createFolder } from "./journal-folder.ts";
import { recoverJournals } from "./recovery.ts";
import { sharedSecrets } from "./shared-secrets.ts";
import { createShipper } from "./shipper.ts";
import { openSnapshot, type LiveSnapshot } from "./snapshot.ts";
import { openStores, type Stores } from "./stores.ts";

export { openStores, type Stores } from "./stores.ts";
export { migrate } from "./migrate.ts";
export { openDatabase, type Database } from "./sql.ts";
export { LEASE_TTL_MS, type LeaseStore } from "./leases.ts";
export type { AuditRecord, AuditStore } from "./audit.ts";
export type { Configured } from "./directory.ts";
export type { FileJournal } from "./journal.ts";
export type { LedgerFilter, LedgerStore } from "./ledger.ts";
export type { LiveSnapshot } from "./snapshot.ts";

/** Everything a serving process needs of storage, running. */
export interface Storage extends Stores {
  /** Secrets that sign links, the current one first. */
  linkSecrets: readonly string[];
  snapshot: LiveSnapshot;
  journal: FileJournal;
  /** Charges that are journaled here and not yet in the ledger. */
  backlog(): number;
  /** Posts what is journaled, as far as the deadline (milliseconds) allows. */
  flush(deadlineMs: number): Promise<boolean>;
  /**
   * Flushes, returns this process's leases and lets go of everything. What was not posted in time is posted by
   * the next start.
   */
  close(deadlineMs: number): Promise<void>;
}

export interface StorageOptions {
  /** A `postgres://` address or the path of a SQLite file. */
  database: string;
  /** Folder on a local disk that holds the journals of all processes of this machine. */
  journals: string;
  /** Name of this process, new at every start; its journal folder and its budget leases carry it. */
  lease: string;
  configured: Configured;
  /** Hears of trouble in the background, for the log; names no secret. */
  onProblem: (message: string, cause: unknown) => void;
}

const RECOVERY_MS = 10_000;
const SWEEP_MS = 30_000;

/** Opens all of storage, after finishing what processes that have ended left in their journals. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { lease, journals: root, onProblem } = options;
  const stores = await openStores(options.database);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const posting = {
    ledger: stores.ledger,
    persist: () => stores.database.persist(),
    refusedPath: join(root, "refused.log"),
    onProblem,
  };
  const recovery = { ...posting, leases: stores.leases, root, lease };
  await recoverJournals(recovery).catch((error: unknown) => {
    if (error instanceof DependencyError) throw error;
    // It is tried again while serving.
    onProblem("journals of ended processes could not be posted", error);
  });
  const linkSecrets = await sharedSecrets(stores.database, "links");
  const snapshot = await openSnapshot(stores.database, {
    configured: options.configured,
    clock: systemClock,
    onProblem,
  });
  const folder = createFolder(root, lease);
  const shipper = createShipper({ ...posting, folder: folder.path, lease, clock: systemClock });
  const journal = openJournal({
    folder: folder.path,
    onAppend: (record, segment, offset) => shipper.hear(record, segment, offset),
    onProblem,
  });
  shipper.start(journal);
  const chores = [
    repeat(RECOVERY_MS, () => recoverJournals(recovery), onProblem),
    repeat(SWEEP_MS, () => stores.leases.sweep(), onProblem),
  ];
  if (stores.database.kind === "sqlite")
    chores.push(startCheckpoints(options.database, (cause) => onProblem("checkpoints have ended", cause)));
  return {
    ...stores,
    linkSecrets,
    snapshot,
    journal,
    backlog: () => shipper.backlog(),
    flush: (deadlineMs) => shipper.flush(deadlineMs),
    async close(deadlineMs) {
      snapshot.stop();
      for (const stop of chores) stop();
      await shipper.flush(deadlineMs);
      shipper.stop();
      await journal.close();
      const letGo = async () => {
        await stores.leases.release(lease);
        await stores.database.persist();
      };
      // Asked only now: a record may have come while the last ones were posted.
      if (shipper.isSettled() && (await atMost(deadlineMs, letGo()))) folder.remove();
      else folder.release();
      await stores.database.close();
    },
  };
}

/** Runs a chore again and again, never twice at once; the answer ends it. */
function repeat(
  everyMs: number,
  chore: () => Promise<unknown>,
  onProblem: StorageOptions["onProblem"],
): () => void {
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await chore();
    } catch (error) {
      if (!(error instanceof DependencyError)) onProblem("a chore of the storage failed", error);
    } finally {
      isRunning = false;
    }
  }, everyMs);
  return () => clearInterval(timer);
}
