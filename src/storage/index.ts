import { join } from "node:path";
import { sweepSessions } from "../admin/sign-in/sessions.ts";
import { inDoubtReport } from "./budgets/leases-in-doubt.ts";
import { systemClock } from "../lib/clock.ts";
import { every, withDeadline, type BackgroundWork } from "../lib/waiting.ts";
import type { DatabaseOptions } from "./database/open.ts";
import type { Database } from "./database/sql.ts";
import { damageReport, startSqliteUpkeep } from "./database/sqlite-upkeep.ts";
import { countQuarantined } from "./journal/journal-folder.ts";
import type { FileJournal } from "./journal/journal.ts";
import { keptSegments } from "./journal/kept-segments.ts";
import { openThreadWriter, type ThreadWriter } from "./journal/ledger-writer.ts";
import { openOwnJournal } from "./journal/own-journal.ts";
import { REFUSED_FILE } from "./journal/posting.ts";
import { createRecovery, type Recovery } from "./journal/recovery.ts";
import { announceProcess } from "./live-processes.ts";
import { createPrivateFolder } from "./private-files.ts";
import { withReadingThreads } from "./readings/readings.ts";
import type { StorageReport } from "./report.ts";
import type { ConfiguredTables } from "./snapshot/directory.ts";
import { openSnapshot, type LiveSnapshot } from "./snapshot/snapshot.ts";
import { countRefused } from "./tables/journal-verification.ts";
import { journalMarks } from "./tables/journal-marks.ts";
import { openLinkSecrets } from "./tables/link-secrets.ts";
import { openStores, type Stores } from "./tables/stores.ts";
import { readVerification } from "./tables/verification.ts";

export { openStores, type Stores } from "./tables/stores.ts";
export { configurationStore } from "./tables/configuration.ts";
export { isMade, migrate } from "./database/migrate.ts";
export { openDatabase } from "./database/open.ts";
export { withReadingThreads } from "./readings/readings.ts";
export { SQLITE_SUFFIXES } from "./database/opened-files.ts";
export type { Database } from "./database/sql.ts";
export type { LeaseStore } from "./budgets/leases.ts";
export type { ConfiguredTables } from "./snapshot/directory.ts";
export type { FileJournal } from "./journal/journal.ts";
export type { LedgerStore } from "./tables/ledger.ts";
export type { LiveSnapshot } from "./snapshot/snapshot.ts";

/** The running parts of storage that a serving process needs. */
export interface Storage extends Stores {
  /** Returns the link secrets in force: the first one signs links, and all of them verify links. */
  linkSecrets(): readonly string[];
  snapshot: LiveSnapshot;
  journal: FileJournal;
  /** Returns the time of the ledger's last verification (Unix milliseconds; 0: never) and the number of differences. */
  verification(): { at: number; differences: number };
  /** Returns the number of charges of this process that are not in the ledger yet. */
  backlog(): number;
  /** Returns the number of charges in the journals that this process has taken over from ended processes. */
  recovered(): number;
  /**
   * Returns the number of charges that this process has posted again, because the database was set back to an earlier
   * state without these charges.
   */
  restored(): number;
  /** Returns the number of entries of this machine that the database has refused permanently. */
  refused(): number;
  /** Returns the number of files in the quarantine of this machine's journals. */
  quarantined(): number;
  /** Returns a description of the damage of the database; null when no damage is known. */
  damage(): string | null;
  /** Returns the number of live gateway processes that use this database, on all machines. */
  processes(): number;
  /** Posts the journaled charges. Returns false when `deadlineMs` milliseconds have passed before the end. */
  flush(deadlineMs: number): Promise<boolean>;
  /**
   * Flushes, returns this process's budget leases to the budgets and closes everything. If charges were not posted in
   * time, another process or the next start posts the charges and then returns the leases.
   */
  close(deadlineMs: number): Promise<void>;
}

export interface StorageOptions extends Pick<DatabaseOptions, "onCall"> {
  /** A `postgres://` address or the path of a SQLite file. */
  database: string;
  /** Maximum number of connections to PostgreSQL; 10 by default. */
  poolSize?: number;
  /** Folder on a local disk that contains the journals of all processes of this machine. */
  journals: string;
  /** Id of this process, new at every start; also the name of its journal folder and of its budget leases. */
  processId: string;
  configured: ConfiguredTables;
  onProblem: StorageReport;
}

const RECOVERY_MS = 10_000;
const SESSIONS_MS = 5 * 60_000;
const IN_DOUBT_MS = 30_000;
const VERIFICATION_MS = 30_000;

/** Opens all parts of storage, after posting the journals of ended processes. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { processId, journals: root, onProblem } = options;
  const damage = damageReport(onProblem);
  const onDamage = damage.failed;
  const stores = await openStores(options.database, { ...options, onDamage });
  createPrivateFolder(root, { isOwn: true });
  const { writer, posting, recovery } = await openRecovery({ ...options, damage }, stores);
  await recovery.run();
  const linkSecrets = await openLinkSecrets(stores.database);
  const snapshot = await openSnapshot(stores.database, {
    configured: options.configured,
    clock: systemClock,
    onProblem,
    onLinkSecretRotated: () => linkSecrets.reload(),
  });
  const processes = await announceProcess(stores.database, processId, failedWork(onProblem));
  const own = await openOwnJournal(root, processId, { ...posting, leases: stores.leases });
  const { shipper, journal } = own;
  const verification = await keptVerification(stores.database);
  const work = [
    snapshot,
    processes,
    ...startUpkeep(stores, recovery, onProblem),
    startWork(VERIFICATION_MS, () => verification.read(), onProblem),
  ];
  if (stores.database.kind === "sqlite")
    work.push(startSqliteUpkeep(options.database, damage.checked, onProblem));
  const readings = withReadingThreads(stores.admin, {
    location: options.database,
    journals: root,
    onProblem,
    onDamage,
  });
  return {
    ...stores,
    admin: readings.admin,
    linkSecrets: () => linkSecrets.current(),
    snapshot,
    journal,
    verification: verification.last,
    backlog: () => shipper.backlog(),
    recovered: () => recovery.recovered(),
    damage: damage.current,
    restored: () => shipper.lost.count() + recovery.restored(),
    processes: () => processes.count(),
    refused: () => countRefused(root),
    quarantined: () => countQuarantined(root),
    flush: (deadlineMs) => shipper.flush(deadlineMs),
    async close(deadlineMs) {
      // The journal is closed without waiting for this work to stop, because the work may wait for a database that does
      // not respond.
      const stopped = Promise.all(work.map((one) => one.stop()));
      await own.close(deadlineMs);
      await withDeadline(deadlineMs, stopped, () => new Error("the deadline has passed")).catch(() => {});
      await Promise.all([writer.close(), readings.close()]);
      await stores.database.close();
    },
  };
}

async function keptVerification(database: Database) {
  let last = await readVerification(database);
  return { last: () => last, read: async () => void (last = await readVerification(database)) };
}

/** Opens the writer that posts journals, and the recovery of journals of ended processes. */
async function openRecovery(
  {
    database,
    journals: root,
    processId,
    onProblem,
    damage,
    onCall,
  }: StorageOptions & { damage: ReturnType<typeof damageReport> },
  stores: Stores,
) {
  const refusedPath = join(root, REFUSED_FILE);
  const thread = openThreadWriter({ location: database, refusedPath, onProblem, onDamage: damage.failed });
  const writer: ThreadWriter = {
    ...thread,
    async post(...batch) {
      // The thread may start later than this process, and would then open a file that has replaced the database.
      stores.database.verifyFiles();
      const startedAt = performance.now();
      try {
        return await thread.post(...batch);
      } finally {
        onCall?.("post", (performance.now() - startedAt) / 1000);
      }
    },
  };
  const marks = journalMarks(stores.database);
  const kept = keptSegments(root, await marks.ledgerId());
  const posting = { writer, marks, kept, persist: () => stores.database.persist(), onProblem };
  const recovery = createRecovery({
    ...posting,
    leases: stores.leases,
    onEnded: (ended) => stores.jobs.releaseAll(ended),
    verifyDatabase() {
      stores.database.verifyFiles();
      damage.verify();
    },
    root,
    processId,
  });
  return { writer, posting, recovery };
}

function startUpkeep(stores: Stores, recovery: Recovery, onProblem: StorageReport): BackgroundWork[] {
  return [
    startWork(RECOVERY_MS, () => recovery.run(), onProblem),
    startWork(SESSIONS_MS, () => sweepSessions({ store: stores.admin, clock: systemClock }), onProblem),
    startWork(IN_DOUBT_MS, inDoubtReport(stores.leases, onProblem), onProblem),
  ];
}

function startWork(everyMs: number, work: () => Promise<unknown>, onProblem: StorageReport): BackgroundWork {
  return every(everyMs, work, failedWork(onProblem));
}

function failedWork(onProblem: StorageReport): (error: unknown) => void {
  return (error) => onProblem("background work of the storage failed", error);
}
