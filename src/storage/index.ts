import { join } from "node:path";
import { DependencyError } from "../gateway/ports.ts";
import { systemClock } from "../lib/clock.ts";
import { withDeadline } from "../lib/waiting.ts";
import { startWalCheckpoints } from "./database/wal-checkpoints.ts";
import type { Configured } from "./snapshot/directory.ts";
import { openJournal, type FileJournal } from "./journal/journal.ts";
import { createFolder } from "./journal/journal-folder.ts";
import { recoverJournals } from "./journal/recovery.ts";
import { sharedSecrets } from "./database/shared-secrets.ts";
import { createShipper } from "./journal/shipper.ts";
import { openSnapshot, type LiveSnapshot } from "./snapshot/snapshot.ts";
import { createPrivateFolder } from "./private-files.ts";
import { openStores, type Stores } from "./stores/stores.ts";

export { openStores, type Stores } from "./stores/stores.ts";
export { migrate } from "./database/migrate.ts";
export { openDatabase } from "./database/open.ts";
export type { Database } from "./database/sql.ts";
export { LEASE_TTL_MS, type LeaseStore } from "./budgets/leases.ts";
export type { AuditRecord, AuditStore } from "./stores/audit.ts";
export type { Configured } from "./snapshot/directory.ts";
export type { FileJournal } from "./journal/journal.ts";
export type { LedgerStore } from "./stores/ledger.ts";
export type { LiveSnapshot } from "./snapshot/snapshot.ts";

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
  /** Most connections to PostgreSQL; 10 by default. */
  poolSize?: number;
  /** Folder on a local disk that holds the journals of all processes of this machine. */
  journals: string;
  /** Name of this process, new at every start; its journal folder and its budget leases carry it. */
  processId: string;
  configured: Configured;
  /** Hears of trouble in the background, for the log; names no secret. */
  onProblem: (message: string, cause: unknown) => void;
}

const RECOVERY_MS = 10_000;
const SWEEP_MS = 30_000;

/** Opens all of storage, after finishing what processes that have ended left in their journals. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { processId, journals: root, onProblem } = options;
  const stores = await openStores(options.database, options);
  createPrivateFolder(root, { isOwn: true });
  const posting = {
    ledger: stores.ledger,
    persist: () => stores.database.persist(),
    refusedPath: join(root, "refused.log"),
    onProblem,
  };
  const recovery = { ...posting, leases: stores.leases, root, processId };
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
  const folder = createFolder(root, processId);
  const shipper = createShipper({ ...posting, folder: folder.path, processId, clock: systemClock });
  const journal = openJournal({
    folder: folder.path,
    onAppend: (record, segment, offset) => shipper.onAppend(record, segment, offset),
    onProblem,
  });
  shipper.start(journal);
  const chores = [
    repeat(RECOVERY_MS, () => recoverJournals(recovery), onProblem),
    repeat(SWEEP_MS, () => stores.leases.sweep(), onProblem),
  ];
  if (stores.database.kind === "sqlite")
    chores.push(startWalCheckpoints(options.database, (cause) => onProblem("checkpoints have ended", cause)));
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
        await stores.leases.release(processId);
        await stores.database.persist();
      };
      // Asked only now: a record may have come while the last ones were posted.
      const isReturned = await withDeadline(deadlineMs, letGo(), () => new Error("too late")).then(
        () => true,
        () => false,
      );
      if (shipper.isSettled() && isReturned) folder.remove();
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
